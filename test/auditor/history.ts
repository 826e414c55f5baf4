/** Histories of a job as the log would have them, for tests of the audit: each record as the fact that is read from it. */
import type { ActiveRun, Execution, ExecutionEvent, FinishedRun, JobDefinitionInput, JobState } from '../../schemas/generated.ts'
import { type Verdict, verdictOf } from '../../src/tools/auditor/audit.ts'
import type { Progress } from '../../src/tools/auditor/calendar.ts'
import type { Finding, Scope } from '../../src/tools/auditor/findings/findings.ts'
import { Ledger, type LedgerOptions } from '../../src/tools/auditor/ledger.ts'
import { type Fact, planSpec } from '../../src/tools/auditor/reading/record-facts.ts'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'
import { memoryStore } from '../tools/memory-store.ts'

export const minute = 60_000
export const start = Date.parse('2030-01-01T00:00:00Z')
export const at = (minutes: number): number => start + minutes * minute
export const graceMs = 10_000

/** A fact with the topic that it was read from: facts of one topic keep their order. */
export interface ChangelogState {
  topic: 'jobs' | 'state' | 'executions' | 'control' | 'events' | 'dlq' | 'target'
  fact: Fact
}

const everyMinute: JobDefinitionInput = { schedule: { everyMs: minute }, target: { handler: 'noop' } }

export class History {
  readonly logged: ChangelogState[] = []
  readonly #id: string
  readonly #offset: number
  #state: JobState

  constructor(id = 'job', offset = 7) {
    this.#id = id
    this.#offset = offset
    this.#state = {
      ...{ status: 'ACTIVE', specOffset: offset, anchorAt: start, timesHash: 1, nextFireAt: at(1), nextDueAt: null },
      ...{ runNo: 0, scheduledRuns: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0, queuedFor: null },
      ...{ waiting: false, active: [], lastRun: null },
    } as unknown as JobState
  }

  define(input: JobDefinitionInput = everyMinute, appendedAt = start, conditional = false): this {
    const spec = planSpec(completeDefinition(input))
    return this.#log('jobs', appendedAt, { kind: 'definition', plan: { offset: this.#offset, appendedAt, conditional, spec } })
  }

  /** A run from its dispatch to its end, in two states; each part can be left out. */
  run(
    runNo: number,
    minutes: number,
    { without = [], startedAt = at(minutes) + 2, next = minutes + 1, by = false, nominal = minutes, more = {} }: RunOptions = {},
  ): this {
    const scheduledFor = at(nominal)
    const active = activeRun(runNo, minutes, this.#offset, { scheduledFor })
    if (!without.includes('dispatch')) this.dispatch(runNo, minutes, { scheduledFor, ...more })
    if (!without.includes('state')) {
      const counted = { runNo, scheduledRuns: this.#state.scheduledRuns + 1, nextFireAt: at(next) }
      this.state(at(minutes) - 50, { ...counted, active: [...this.#state.active, active] }, by)
    }
    if (!without.includes('report')) this.report(runNo, { startedAt })
    if (!without.includes('end')) this.end(runNo, minutes, { scheduledFor }, by)
    return this
  }

  dispatch(runNo: number, minutes: number, more: Partial<Execution> = {}, topic: 'executions' | 'control' = 'executions'): this {
    const dispatch = { ...dispatchOf(runNo, minutes, this.#offset), ...more }
    return this.#log(topic, at(minutes) - 50, { kind: 'dispatch', dispatch, byControl: topic === 'control' })
  }

  report(runNo: number, more: Partial<ExecutionEvent> & { startedAt: number }): this {
    const report = { type: 'SUCCEEDED', runNo, attempt: 1, specOffset: this.#offset, worker: 'w', ...more } as ExecutionEvent
    return this.#log('events', more.startedAt + 5, { kind: 'report', report })
  }

  end(runNo: number, minutes: number, more: Partial<FinishedRun> = {}, byBroker = false, when = at(minutes) + 20): this {
    const lastRun = { ...finishedRun(runNo, minutes), ...more }
    if (this.#state.lastRun !== null) this.#log('state', when, { kind: 'finished', run: this.#state.lastRun }, byBroker)
    const active = this.#state.active.filter((run) => run.runNo !== runNo)
    return this.state(when, { active, lastRun, succeeded: this.#state.succeeded + 1 }, byBroker)
  }

  state(when: number, patch: Partial<JobState>, byBroker = false): this {
    this.#state = { ...this.#state, ...patch }
    return this.#log('state', when, { kind: 'state', state: this.#state }, byBroker)
  }

  gone(when: number): this {
    this.#log('jobs', when, { kind: 'deletion', offset: this.#offset + 1 })
    return this.#log('state', when, { kind: 'state', state: null })
  }

  deadLetter(runNo: number, minutes: number): this {
    return this.#log('dlq', at(minutes) + 20, { kind: 'dead-letter', run: dispatchOf(runNo, minutes, this.#offset) })
  }

  record(runNo: number, minutes: number, when = at(minutes) + 3, byBroker = false): this {
    return this.#log('target', when, { kind: 'record', runNo, scheduledFor: at(minutes), topic: 'orders' }, byBroker)
  }

  #log(topic: ChangelogState['topic'], when: number, fact: object, byBroker = false): this {
    this.logged.push({ topic, fact: { jobId: this.#id, at: when, byBroker, ...fact } as Fact })
    return this
  }
}

interface RunOptions {
  without?: ('dispatch' | 'state' | 'report' | 'end')[]
  startedAt?: number
  /** Minute of the occurrence that the state says is next. */
  next?: number
  /** Minute that it is said to be for, where that is another. */
  nominal?: number
  /** Whether the times of states are the broker's. */
  by?: boolean
  more?: Partial<Execution>
}

export const dispatchOf = (runNo: number, minutes: number, specOffset: number): Execution =>
  ({
    ...{ jobId: 'job', runNo, attempt: 1, specOffset, scheduledFor: at(minutes), dueAt: at(minutes), trigger: 'SCHEDULE' },
    ...{ dispatchedAt: at(minutes) - 50, startDeadlineAt: at(minutes) + 86_400_000 },
  }) as Execution

export const activeRun = (runNo: number, minutes: number, specOffset: number, more: Partial<ActiveRun> = {}): ActiveRun =>
  ({
    ...{ runNo, specOffset, scheduledFor: at(minutes), trigger: 'SCHEDULE', status: 'DISPATCHED', attempt: 1 },
    ...{ dueAt: at(minutes), startDeadlineAt: at(minutes) + 86_400_000, ...more },
  }) as ActiveRun

export const finishedRun = (runNo: number, minutes: number): FinishedRun =>
  ({
    ...{ runNo, scheduledFor: at(minutes), trigger: 'SCHEDULE', status: 'SUCCEEDED', attempts: 1, worker: 'w' },
    ...{ startedAt: at(minutes) + 2, finishedAt: at(minutes) + 10 },
  }) as FinishedRun

export interface JudgeOptions {
  scope?: Partial<Scope>
  now?: number
  ledger?: Partial<LedgerOptions>
  completeFrom?: Progress['completeFrom']
  targetTopics?: ReadonlySet<string>
  /** Pools that are paused. */
  paused?: readonly string[]
}

/** What a ledger that was given these facts, in this order, says in the end. */
export async function judged(logged: readonly ChangelogState[], options: JudgeOptions = {}): Promise<Verdict> {
  const { now = at(10) + 1 } = options
  const { ledger, findings, scope } = ledgerOf(options)
  await ledger.restore()
  for (const { fact } of logged) await ledger.take([fact], now)
  await ledger.settle({ ...presentAt(now, options), isFinal: true })
  return verdictOf(ledger, findings, scope)
}

export const presentAt = (
  watermark: number,
  { completeFrom = { executions: 0, control: 0 }, targetTopics = new Set(), paused = [] }: JudgeOptions = {},
): Progress => ({
  watermark,
  isPresent: true,
  completeFrom,
  targetTopics,
  isPaused: (pool) => paused.includes(pool),
})

export function ledgerOf({ scope: more = {}, ledger: options = {} }: JudgeOptions = {}) {
  const findings: Finding[] = []
  const scope = { from: 0, to: Number.POSITIVE_INFINITY, graceMs, ...more }
  const ledger = new Ledger({ store: memoryStore(), scope, onFinding: (finding) => void findings.push(finding), ...options })
  return { ledger, findings, scope }
}

/** Minutes 1 to 9, each once; what `change` adds comes last. */
export function ninth(without: readonly number[] = [], skipped = 0): History {
  const history = new History().define()
  let runNo = 0
  for (let each = 1; each <= 9; each++) if (!without.includes(each)) history.run(++runNo, each)
  return history.state(at(9) + 30, { skipped, nextFireAt: at(10) })
}
