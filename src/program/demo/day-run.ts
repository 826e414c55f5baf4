/** One compressed day on a running system: import the jobs, follow the log, mark the end, judge. */
import { partitionOf, type TopicNames } from '../../../streams/topics/index.ts'
import type { Job } from '../../clients/client/index.ts'
import { createClient, type KafkaClient } from '../../clients/library/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { Log } from '../../ground/ports/index.ts'
import { type ClusterOptions, clusterOf } from '../../log/cluster/index.ts'
import type { Codecs } from '../../log/kafka/index.ts'
import { type Fact, LogFollower } from '../../tools/auditor/index.ts'
import { resolvedWithin, unlessAborted } from './abort.ts'
import { attemptsMax, backoffMs, handlerName } from './ci-job.ts'
import type { Occurrence } from './day-plan.ts'
import { numberText, type Output, showProgress } from './output.ts'
import { type DayVerdict, RunAccounts } from './run-accounts.ts'

interface DayOptions {
  cluster: ClusterOptions
  /** Partitions of every topic. */
  partitions: number
  plan: readonly Occurrence[]
  /** How long the day takes. */
  compressedMs: number
  output: Output
  signal: AbortSignal
}

/** From the first definition sent to the first occurrence due. Importing takes a part of it. */
const headStartMs = 3_000
/** Time that the demo waits after the latest possible end of a retry. Occurrences that are open then count as lost. */
const graceMs = 30_000
const markPrefix = 'end-of-day-'

/** Rejects when the log refuses, and with the signal's reason. */
export async function runDay(options: DayOptions): Promise<{ verdict: DayVerdict; readToEnd: boolean }> {
  const { cluster, plan, compressedMs, output } = options
  const failed = new AbortController()
  const signal = AbortSignal.any([options.signal, failed.signal])
  const { log, names, openCodecs } = clusterOf(cluster)
  const client = createClient(cluster)
  let follower: DayFollower | undefined
  try {
    const codecs = await unlessAborted(openCodecs(['default']), signal)
    // Opens the client's connections before the head start, which is for the import only.
    await unlessAborted(client.scheduleMany([]), signal)
    const startAt = Date.now() + headStartMs
    const expected = plan.map(({ id, delayMs }) => ({ id, dueAt: startAt + delayMs }))
    const accounts = new RunAccounts(expected, backoffMs)
    const isMark = (id: string): boolean => id.startsWith(markPrefix)
    follower = new DayFollower({ log, codecs, names, accounts, isMark, onError: (error) => failed.abort(error) })
    const imported = importAll(client, plan, startAt, output)
    await unlessAborted(Promise.all([imported, follower.start()]), signal)

    const dayShare = (): number => (Date.now() - startAt) / compressedMs
    const hide = showProgress({ output, counts: () => accounts.counts, dayShare })
    try {
      await resolvedWithin(follower.complete, lastEndAt(startAt, plan) + graceMs - Date.now(), signal)
    } finally {
      hide()
    }
    output.write('The day is over; the log is read to its end.\n')
    const marks = marksOf(options.partitions)
    const now = Date.now()
    await unlessAborted(client.scheduleMany(marks.map((id) => markOf(id, now))), signal)
    const readToEnd = await resolvedWithin(follower.seen(new Set(marks)), graceMs, signal)
    return { verdict: accounts.verdict(), readToEnd }
  } finally {
    await Promise.all([follower?.stop(), client.close()])
  }
}

async function importAll(client: KafkaClient, plan: readonly Occurrence[], startAt: number, output: Output): Promise<void> {
  const from = performance.now()
  const { accepted, rejections } = await client.scheduleMany(plan.map((occurrence) => jobOf(occurrence, startAt)))
  const [rejection] = rejections
  if (rejection) throw new DuelogError('internal', `The demo's job ${rejection.id} was refused: ${rejection.error.message}`)
  output.write(`Imported ${numberText(accepted)} jobs in ${Math.round(performance.now() - from)} ms; the day begins.\n`)
}

function lastEndAt(startAt: number, plan: readonly Occurrence[]): number {
  const allBackoffsMs = backoffMs.reduce((sum, delayMs) => sum + delayMs, 0)
  const endsMs = plan.map(({ delayMs, fate }) => delayMs + allBackoffsMs + fate.attempts * fate.durationMs)
  return startAt + endsMs.reduce((last, endMs) => Math.max(last, endMs), 0)
}

/** One marker id for each partition. */
function marksOf(partitions: number): string[] {
  const marks = new Map<number, string>()
  for (let n = 1; marks.size < partitions; n++) {
    const id = `${markPrefix}${n}`
    const partition = partitionOf(id, partitions)
    if (!marks.has(partition)) marks.set(partition, id)
  }
  return [...marks.values()]
}

/** The job that runs the occurrence once, in a day that starts at `startAt`. */
function jobOf({ id, job, nominalAt, delayMs }: Occurrence, startAt: number): Job {
  const { name, group, cluster } = job
  return {
    id,
    schedule: { at: startAt + delayMs },
    target: { handler: handlerName },
    payload: { name, group, cluster, nominalTime: new Date(nominalAt).toISOString() },
    retry: { maxAttempts: attemptsMax, backoff: { list: [...backoffMs] } },
    tags: [group],
  }
}

/** A marker job. When its run is read, all earlier records of its partition were read. */
function markOf(id: string, at: number): Job {
  return { id, schedule: { at }, target: { handler: 'noop' } }
}

interface DayFollowerOptions {
  log: Log
  codecs: Codecs
  names: TopicNames
  accounts: RunAccounts
  /** Says whether a job is a marker. The accounts do not count markers; see `seen`. */
  isMark(jobId: string): boolean
  onError(error: Error): void
}

export class DayFollower {
  /** Resolves when every expected occurrence has ended. */
  readonly complete: Promise<void>
  readonly #accounts: RunAccounts
  readonly #isMark: (jobId: string) => boolean
  readonly #log: LogFollower
  readonly #complete = Promise.withResolvers<void>()
  /** By marker: the kinds of its records that were read. */
  readonly #marks = new Map<string, Set<'execution' | 'end'>>()
  #awaited: { ids: ReadonlySet<string>; resolve(): void } | undefined

  constructor({ log, codecs, names, accounts, isMark, onError }: DayFollowerOptions) {
    this.#accounts = accounts
    this.#isMark = isMark
    this.complete = this.#complete.promise
    const onFact = (fact: Fact): void => this.#enter(fact)
    this.#log = new LogFollower({ log, codecs, names, pool: 'default', instance: 'demo', withStates: true, onFact, onError })
  }

  start(): Promise<void> {
    return this.#log.start()
  }

  /**
   * Resolves when the execution and the end of each marker were read. All earlier records of their partitions were read by then.
   */
  seen(ids: ReadonlySet<string>): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { ids, resolve }
      this.#check()
    })
  }

  stop(): Promise<void> {
    return this.#log.stop()
  }

  #enter(fact: Fact): void {
    if (!this.#isMark(fact.jobId)) this.#accounts.enter(fact)
    else if (fact.kind === 'dispatch') this.#mark(fact.jobId, 'execution')
    else if (fact.kind === 'state' && fact.state?.lastRun) this.#mark(fact.jobId, 'end')
    this.#check()
  }

  #mark(id: string, kind: 'execution' | 'end'): void {
    this.#marks.set(id, (this.#marks.get(id) ?? new Set()).add(kind))
  }

  #check(): void {
    if (this.#accounts.complete) this.#complete.resolve()
    if (this.#awaited && [...this.#awaited.ids].every((id) => this.#marks.get(id)?.size === 2)) this.#awaited.resolve()
  }
}
