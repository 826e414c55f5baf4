/**
 * The independent check: it reads what the log of a cluster says, as any consumer could, and judges it. It asks no owner, and uses
 * nothing that owners decide by but the calendar.
 */

import { validateDefinition, validateJobId } from '../../streams/jobs/validate.ts'
import { jobIdOfKey, prefix as keyPrefix } from '../../streams/keys.ts'
import type { TopicNames } from '../../streams/topics.ts'
import { type ClusterOptions, clusterOf } from '../connect.ts'
import { DuelogError } from '../errors.ts'
import type { Codecs } from '../kafka/codecs.ts'
import type { Span } from '../kafka/log.ts'
import type { RecordIn } from '../ports.ts'
import { Books } from './books.ts'
import { judge, type Verdict } from './verdict.ts'

export interface AuditOptions {
  cluster: ClusterOptions
  /** Only occurrences with nominal times in this range, epoch ms. */
  from: number | undefined
  to: number | undefined
  graceMs: number
  onProgress(done: number, total: number): void
  signal: AbortSignal
}

/** How long before its nominal time a run may be dispatched, and its record be written. */
const AHEAD_MS = 3_600_000

/** Rejects with `bad-usage` where there are no topics of this prefix, and as the log does. */
export async function audit({ cluster, from, to, graceMs, onProgress, signal }: AuditOptions): Promise<Verdict> {
  const { log, names, openCodecs } = clusterOf(cluster)
  const all = new Set(await log.topics())
  const executions = [...all].filter((topic) => poolOf(names, topic) !== undefined)
  // Definitions and state first: what they say of runs is then in the topics whose ends are looked up later.
  const topics = [names.jobs, names.state, names.deadLetters, ...executions, names.control, names.events]
  const missing = topics.filter((topic) => !all.has(topic))
  if (missing.length > 0 || executions.length === 0) {
    const which = missing.length > 0 ? missing.join(', ') : 'executions of any pool'
    throw new DuelogError(
      'bad-usage',
      `There are no topics ${which} at ${String(cluster.brokers)}; check the brokers and the topic prefix.`,
    )
  }
  const codecs = await openCodecs([...new Set(executions.map((topic) => poolOf(names, topic) ?? ''))])
  const books = new Books()
  const oldest = new Oldest()
  const window =
    from === undefined
      ? undefined
      : { ms: Math.max(0, from - AHEAD_MS), topics: new Set([...executions, names.control, names.events]) }
  const spans = await log.readToEnd({
    topics,
    groupPrefix: names.group('audit-'),
    from: window,
    onProgress,
    signal,
    onRecord(record) {
      oldest.note(record)
      return enter(books, names, codecs, record)
    },
  })
  const now = Date.now()
  const complete = oldest.completeFrom(spans.filter(({ topic }) => executions.includes(topic)))
  return judge(books, { from: Math.max(from ?? 0, complete), to: to ?? Number.POSITIVE_INFINITY, now, graceMs })
}

function poolOf({ executions, deadLetters }: TopicNames, topic: string): string | undefined {
  const [before = ''] = executions('|', 'HIGH').split('|')
  if (!topic.startsWith(before) || topic === deadLetters) return undefined
  return /^(.+)\.(high|normal|low)(\.ahead)?$/.exec(topic.slice(before.length))?.[1]
}

async function enter(books: Books, names: TopicNames, codecs: Codecs, record: RecordIn): Promise<void> {
  const { topic, key, value } = record
  if (key === null) return
  try {
    if (topic === names.jobs) await enterDefinition(books, codecs, record)
    else if (topic === names.state) await enterState(books, codecs, key, value)
    else if (value === null) return
    else if (topic === names.events) books.event(await codecs.event.decode(value))
    else if (topic === names.deadLetters) {
      const { execution } = await codecs.deadLetter.decode(value)
      books.deadLetter(await codecs.execution.decode(execution))
    } else if (topic === names.control) {
      const { execution } = await codecs.control.decode(value)
      if (execution !== null) books.execution(await codecs.execution.decode(execution))
    } else books.execution(await codecs.execution.decode(value))
  } catch (error) {
    // Anybody may write to these topics; what nobody can read has no part in the proof, but is told.
    if (!(error instanceof DuelogError) || error.code !== 'undecodable') throw error
    books.unread(topic)
    if (topic === names.jobs) books.definition(key.toString(), undefined)
  }
}

async function enterDefinition(books: Books, codecs: Codecs, { key, value, offset, timestampMs }: RecordIn): Promise<void> {
  // Owners write marks of their own, whose keys are those of no job.
  if (key === null || validateJobId(key) !== undefined) return
  const jobId = key.toString()
  if (value === null) return books.definition(jobId, undefined)
  const spec = await codecs.definition.decode(value)
  books.definition(jobId, validateDefinition(spec).length > 0 ? undefined : { spec, offset, appendedAt: timestampMs })
}

async function enterState(books: Books, codecs: Codecs, key: Buffer, value: Buffer | null): Promise<void> {
  if (key[0] === keyPrefix.state) {
    const jobId = jobIdOfKey(key)
    books.state(jobId, value === null ? undefined : ((await codecs.state.decode(value)).state ?? undefined))
  } else if (key[0] === keyPrefix.run && value !== null) {
    const { run } = await codecs.state.decode(value)
    if (run !== null) books.finished(jobIdOfKey(key), run)
  }
}

/** From when on executions are complete: where retention has taken the beginning of a partition, from its oldest record. */
class Oldest {
  readonly #first = new Map<string, number>()

  note({ topic, partition, timestampMs }: RecordIn): void {
    const place = `${topic}/${partition}`
    if (!this.#first.has(place)) this.#first.set(place, timestampMs)
  }

  completeFrom(spans: readonly Span[]): number {
    const cut = spans.filter(({ earliest, from }) => earliest > 0 && from === earliest)
    return cut.reduce((latest, { topic, partition }) => Math.max(latest, this.#first.get(`${topic}/${partition}`) ?? 0), 0)
  }
}
