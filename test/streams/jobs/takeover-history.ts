/** Random histories of one job for takeovers.test.ts: a log, an owner that decides by `step`, and what a new owner finds after compaction. */
import type { ExecutionEvent, JobCommand } from '../../../schemas/index.ts'
import type { Chance } from '../../../src/testing/simulation/chance.ts'
import { completeCommand } from '../../../streams/definitions/defaults.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { step } from '../../../streams/jobs/step.ts'
import type { Context, Decision, Input, Job, KnownDefinition } from '../../../streams/state/job.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { timersOf } from '../../../streams/state/timers.ts'

/** The offset that must be in force, `any`, or `none`. */
type Condition = number | 'any' | 'none'

interface LogRecord {
  offset: number
  definition?: KnownDefinition
  condition?: Condition
  /** Of an owner's tombstone. */
  observedOffset?: number
  observedDeleteAt?: number
}
interface Habits {
  versions: boolean
  retention: boolean
}
interface Act {
  what: 'define' | 'delete' | 'read' | 'command' | 'timer' | 'end' | 'replace'
  spec?: KnownDefinition['spec']
  condition?: Condition
  command?: JobCommand['type']
}

const actsMax = 16
/** Nothing happens after it, such as the end of a long retention. */
const timesEnd = 3_600_000

export function randomActs(chance: Chance, habits: Habits): Act[] {
  return Array.from({ length: actsMax }, () => {
    const what = chance.weighted({ define: 5, delete: 2, read: 7, command: 2, timer: 2, end: 2, replace: 2 }) ?? 'read'
    const condition = chance.happens(0.5) ? chance.pick<Condition>(['any', 'none', chance.int(0, 5)]) : undefined
    const conditional = condition === undefined ? {} : { condition }
    if (what === 'delete') return { what, ...(condition !== 'none' && conditional) }
    if (what === 'command') return { what, command: chance.pick(['PAUSE', 'RESUME', 'TRIGGER', 'CANCEL'] as const) }
    return what === 'define' ? { what, ...conditional, ...specOf(chance, habits) } : { what }
  })
}

/** Some definitions are no definitions. */
function specOf(chance: Chance, { versions, retention }: Habits): Pick<Act, 'spec'> {
  if (chance.happens(0.1)) return {}
  const spec = completeDefinition({
    schedule: chance.pick([{ everyMs: 1_000 }, { at: 5_000 }, { delayMs: 700 }]),
    target: { handler: 'x' },
    retainCompletedMs: retention ? 500 : 86_400_000,
    ...(versions && chance.happens(0.3) && { version: chance.int(1, 3) }),
    ...(versions && chance.happens(0.3) && { dedupKey: 'k', dedupWindowMs: 60_000 }),
    paused: chance.happens(0.1),
  })
  return { spec }
}

/** Which definition is in force after a log, by its conditions alone. An owner's tombstone for one that was refused deletes nothing. */
export function inForceOf(log: readonly LogRecord[]): number | null {
  let inForce: number | null = null
  for (const { offset, definition, condition, observedOffset } of log) {
    const isMet =
      condition === undefined ||
      (condition === 'any' && inForce !== null) ||
      (condition === 'none' && inForce === null) ||
      condition === inForce
    if (!isMet || observedOffset !== undefined) continue
    inForce = definition === undefined ? null : offset
  }
  return inForce
}

const context = (now: number): Context => ({
  ...{ now, leadMs: 0, aheadFrom: 0, eventsReadUntil: Number.POSITIVE_INFINITY, seenAt: () => 0 },
  topicProblem: () => undefined,
  poolProblem: () => undefined,
  limits: { slots: () => ({ held: 0, waiting: 0 }), starts: () => undefined },
})

class Owner {
  readonly log: LogRecord[] = []
  #job: Job = { id: 'j' }
  #kept: KnownDefinition | null = null
  #next = 0
  #compactedTo = 0
  now = 1_000
  readonly #isReplaced: boolean
  readonly #chance: Chance

  constructor({ isReplaced, chance }: { isReplaced: boolean; chance: Chance }) {
    this.#isReplaced = isReplaced
    this.#chance = chance
  }

  play(act: Act, index: number): void {
    this.now += 50
    if (act.what === 'define' || act.what === 'delete') this.#append(act)
    else if (act.what === 'read') this.#read()
    else if (act.what === 'command') this.#command(act.command ?? 'PAUSE', index)
    else if (act.what === 'timer') this.#timer()
    else if (act.what === 'end') this.#end()
    else if (this.#isReplaced) this.#replace()
  }

  readToEnd(): void {
    while (this.#next < this.log.length) this.#read()
  }

  view() {
    const { definition, state } = this.#job
    return {
      offset: definition?.offset ?? null,
      state: state ?? null,
      timers: timersOf(this.#job).map(({ dueAt, kind }) => ({ dueAt, kind })),
    }
  }

  #append({ what, spec, condition }: Act): void {
    const offset = this.log.length
    const known = { offset, appendedAt: this.now, bytes: Buffer.alloc(0) }
    const definition = spec === undefined ? { ...known, problem: 'It is none.' } : { ...known, spec }
    this.log.push({ offset, ...(condition !== undefined && { condition }), ...(what === 'define' && { definition }) })
  }

  #read(): void {
    const record = this.log[this.#next]
    if (record === undefined) return
    this.#next++
    this.#take(inputOf(record, false))
  }

  #take(input: Input): void {
    const decision: Decision = step(this.#job, input, context(this.now))
    this.#job = decision.job
    if (decision.keptDefinition !== undefined) this.#kept = decision.keptDefinition
    for (const output of decision.out) {
      if (output.kind !== 'tombstone') continue
      const { kind: _, ...observed } = output
      this.log.push({ offset: this.log.length, ...observed })
    }
  }

  #command(type: JobCommand['type'], index: number): void {
    this.#take({ kind: 'command', command: completeCommand({ type, commandId: `c${index}`, at: this.now }) })
  }

  #timer(): void {
    const wanted = timersOf(this.#job).filter(({ kind }) => kind === timerKind.delete || kind === timerKind.fire)
    const timer = wanted.toSorted((a, b) => a.dueAt - b.dueAt)[0]
    if (timer === undefined || timer.dueAt > timesEnd) return
    this.now = Math.max(this.now, timer.dueAt)
    this.#take({ kind: 'timer', timer })
  }

  #end(): void {
    const run = this.#job.state?.active[0]
    if (run === undefined) return
    const { runNo, attempt, specOffset } = run
    const none = { result: null, error: null, progress: null, message: null }
    const event = {
      type: 'SUCCEEDED',
      jobId: 'j',
      runNo,
      attempt,
      specOffset,
      at: this.now,
      worker: 'w',
      startedAt: this.now,
      ...none,
    }
    this.#take({ kind: 'event', event: event as ExecutionEvent })
  }

  /**
   * What an owner without a store restores: the logged state, the kept definition, and what compaction has left of the decided records.
   * Compaction removes from the beginning, and never the last one; a tombstone goes later than what it removed.
   */
  #replace(): void {
    const { state } = this.#job
    this.#compactedTo = Math.max(this.#compactedTo, this.#chance.int(0, Math.max(0, this.#next - 1)))
    let job: Job = state === undefined ? { id: 'j' } : { id: 'j', state }
    for (const record of this.log.slice(this.#compactedTo, this.#next))
      job = step(job, inputOf(record, true), context(this.now)).job
    if (this.#kept !== null && (job.definition?.offset ?? -1) < this.#kept.offset) job = { ...job, definition: this.#kept }
    this.#job = job
  }
}

function inputOf({ definition, offset, condition, ...observed }: LogRecord, decided: boolean): Input {
  const more = { ...(decided && { decided }), ...(condition !== undefined && { onlyOver: condition }) }
  return definition === undefined
    ? { kind: 'deletion', offset, ...observed, ...more }
    : { kind: 'definition', definition, ...more }
}

export function playHistory(acts: readonly Act[], how: { isReplaced: boolean; chance: Chance }): Owner {
  const owner = new Owner(how)
  for (const [index, act] of acts.entries()) owner.play(act, index)
  owner.readToEnd()
  return owner
}
