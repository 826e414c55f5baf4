/** Handlers of the real workers, which do what the seed says, and checks of what must never happen to a handler. */

import type { Execution } from '../../../schemas/generated.ts'
import type { Codec } from '../../../src/ground/ports/log.ts'
import type { Machine } from '../../../src/testing/simulation/io.ts'
import type { Run } from '../../../src/worker/executor/handlers/handler.ts'
import { NonRetryableError, RetryLaterError } from '../../../src/worker/executor/handlers/handler.ts'
import type { Heard } from './pauses.ts'
import type { Cluster } from './process.ts'

type SimulatedOutcome = 'return' | 'succeed' | 'fail' | 'fail-for-good' | 'later' | 'hang' | 'odd' | 'heed' | 'reject-odd'

/** Values that a handler may throw and that are not errors. */
const oddities = (): unknown[] => [
  undefined,
  null,
  7,
  'a text',
  {},
  Object.create(null),
  Symbol('odd'),
  new Error('x'.repeat(100_000)),
  10n,
]

/** How many handlers were called, in all histories. */
export const called = { handlers: 0 }

export class Scripted {
  readonly #cluster: Cluster
  readonly #machine: Machine
  readonly #problems: string[]
  readonly #heard: Heard | undefined
  readonly #started = new Set<string>()
  /** What the worker has read, by run and attempt. A handler does not see all of it. */
  readonly #executions = new Map<string, Execution>()
  /** Ends the handlers that hang. */
  readonly #hanging = new Set<() => void>()
  /** Attempts whose handlers were called here, and the true time of the call. */
  readonly attempts: { execution: Execution; atMs: number }[] = []
  peaceful = false

  constructor(cluster: Cluster, machine: Machine, problems: string[], heard: Heard | undefined) {
    this.#cluster = cluster
    this.#machine = machine
    this.#problems = problems
    this.#heard = heard
  }

  /** The codec by which the worker reads what it runs. */
  reading(codec: Codec<Execution, never>): Codec<Execution, never> {
    const note = (execution: Execution): Execution => {
      const { jobId, runNo, life, attempt } = execution
      this.#executions.set(`${jobId}/${runNo}@${life} ${attempt}`, execution)
      return execution
    }
    const decode = (bytes: Buffer) => {
      const decoded = codec.decode(bytes)
      return decoded instanceof Promise ? decoded.then(note) : note(decoded)
    }
    return { ...codec, decode }
  }

  /** No more failures: the handlers that hang end. */
  rest(): void {
    this.peaceful = true
    for (const end of this.#hanging) end()
    this.#hanging.clear()
  }

  readonly handle = (run: Run): unknown => {
    const { chance } = this.#cluster
    const { clock, name, alive } = this.#machine
    const execution = this.#executions.get(`${run.executionId} ${run.attempt}`)
    if (execution === undefined) {
      this.#problems.push(`${name} started ${run.executionId}, which it had not read`)
      return undefined
    }
    const attempt = `${execution.jobId}/${execution.runNo}/${execution.attempt} of ${execution.specOffset}`
    if (!alive) this.#problems.push(`${name} started ${attempt} after its death`)
    if (clock.nowMs() < execution.dueAt)
      this.#problems.push(`${name} started ${attempt} ${execution.dueAt - clock.nowMs()} ms early`)
    if (clock.nowMs() >= execution.startDeadlineAt) this.#problems.push(`${name} started ${attempt} after its start deadline`)
    if (this.#started.has(attempt)) this.#problems.push(`${name} started ${attempt} twice`)
    this.#started.add(attempt)
    called.handlers++
    this.#heard?.began(name, execution)
    this.attempts.push({ execution, atMs: this.#cluster.time.nowMs })
    const fates: Partial<Record<SimulatedOutcome, number>> = this.peaceful
      ? { return: 1 }
      : { return: 4, succeed: 6, fail: 3, 'fail-for-good': 1, later: 1, hang: 1, odd: 1, heed: 1, 'reject-odd': 1 }
    const fate = chance.weighted(fates)
    const odd = chance.pick(oddities())
    if (chance.happens(0.3)) run.heartbeat({ progress: chance.pick([0.5, Number.NaN, 9]), message: 'on the way' })
    if (fate === 'return') return chance.pick([undefined, 1, { a: 1 }, odd])
    if (fate === 'odd') throw odd
    return this.#asked(run, fate, odd)
  }

  #asked(run: Run, fate: SimulatedOutcome | undefined, odd: unknown): Promise<unknown> {
    const { chance } = this.#cluster
    const { clock } = this.#machine
    return new Promise((resolve, reject) => {
      const end = (): void => {
        if (fate === 'fail') reject(new Error('planned'))
        else if (fate === 'fail-for-good') reject(new NonRetryableError('planned'))
        else if (fate === 'later') reject(new RetryLaterError(chance.pick([0, 700, 3_000])))
        else if (fate === 'reject-odd') reject(odd)
        else resolve(1)
      }
      if (fate === 'hang') {
        this.#hanging.add(end)
        return
      }
      if (fate === 'heed') run.signal.addEventListener('abort', () => reject(run.signal.reason))
      clock.at(clock.nowMs() + chance.pick([0, 5, 400, 2_500, 6_000]), end)
    })
  }
}
