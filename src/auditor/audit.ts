/**
 * The independent check as one pass: it reads the log of a cluster, as any consumer could, and judges it. It asks no owner.
 * Its accounts are in a temporary folder that is deleted afterwards, so that memory does not grow with the log.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, type ClusterOptions, clusterOf } from '../cluster/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { RecordIn } from '../ports/index.ts'
import { rocksStores } from '../store/index.ts'
import type { Finding } from './findings/index.ts'
import { Ledger } from './ledger.ts'
import { CompleteFrom, type Fact, factOf, PausedPools, poolOf } from './reading/index.ts'
import { findingsMax, type Verdict, verdictOf } from './verdict.ts'

export interface AuditOptions {
  cluster: ClusterOptions
  /** Only occurrences with nominal times in this range, epoch ms. */
  from: number | undefined
  to: number | undefined
  graceMs: number
  /** Topics of the user that jobs write to. They are read too, and must be complete from their beginning. */
  targetTopics?: readonly string[]
  onProgress(done: number, total: number): void
  signal: AbortSignal
}

/** Longest time before its nominal time at which a run may be dispatched or its record written. */
const aheadMs = 3_600_000
/** How far one partition may be read ahead of another, by record time. */
const defaultPaceMs = 30_000
/** Facts that are entered in one step. */
const stepFacts = 2_000

/**
 * The topics that are read, in the order in which their ends are queried. A topic that reports an effect comes before the topic
 * that holds its cause: states tell of reports, and reports tell of dispatches. So a run that is dispatched and started between
 * two queries is never taken for one that was started without a dispatch.
 */
export function auditedTopics(names: Cluster['names'], executions: readonly string[], targetTopics: readonly string[]): string[] {
  return [names.jobs, names.state, names.deadLetters, names.events, ...executions, names.control, ...targetTopics, names.pauses]
}

/** Rejects with `bad-usage` if there are no topics of this prefix, and with the errors of the log. */
export async function audit({
  cluster,
  from,
  to,
  graceMs,
  targetTopics = [],
  onProgress,
  signal,
}: AuditOptions): Promise<Verdict> {
  const { log, names, openReadingCodecs } = clusterOf(cluster)
  const all = new Set(await log.topics())
  const executions = [...all].filter((topic) => poolOf(names, topic) !== undefined)
  const topics = auditedTopics(names, executions, targetTopics)
  const missing = topics.filter((topic) => !all.has(topic))
  if (missing.length > 0 || executions.length === 0) {
    const which = missing.length > 0 ? missing.join(', ') : 'executions of any pool'
    throw new DuelogError(
      'bad-usage',
      `There are no topics ${which} at ${String(cluster.brokers)}; check the brokers and the topic prefix.`,
    )
  }
  const codecs = await openReadingCodecs([...new Set(executions.map((topic) => poolOf(names, topic) ?? ''))])
  const windowed = new Set([...executions, names.control, names.events])
  const window = from === undefined ? undefined : { ms: Math.max(0, from - aheadMs), topics: windowed }
  const folder = await mkdtemp(join(tmpdir(), 'duelog-audit-'))
  const { store } = await rocksStores(folder).open(0)
  try {
    const scope = { from: from ?? 0, to: to ?? Number.POSITIVE_INFINITY, graceMs }
    const findings: Finding[] = []
    const complete = new CompleteFrom(names, window?.ms)
    const ledger = new Ledger({
      store,
      scope,
      onFinding: (finding) => void (findings.length < findingsMax && findings.push(finding)),
    })
    const pools = new PausedPools(graceMs)
    const isPaused = (pool: string): boolean => pools.isPaused(pool, nowMs())
    let facts: Fact[] = []
    // A record that a broker has appended is in the past, even if the clock of this machine is behind.
    let appendedMs = 0
    const nowMs = (): number => Math.max(Date.now(), appendedMs)
    // The log is read up to its end at the beginning. A long one takes minutes, in which more falls due and is not read.
    let readMs = Date.now()
    const entered = async (): Promise<void> => {
      const step = facts
      facts = []
      await ledger.take(step, nowMs())
      await ledger.saveMany()
    }
    await log.readToEnd({
      topics,
      groupPrefix: names.group('audit-'),
      from: window,
      paceMs: defaultPaceMs,
      onProgress,
      signal,
      async onRecord(record: RecordIn) {
        complete.note(record)
        readMs = Math.max(readMs, record.timestampMs)
        if (record.byBroker) appendedMs = Math.max(appendedMs, record.timestampMs)
        if (record.topic === names.pauses) return pools.note(record)
        const fact = await factOf(names, codecs, record)
        if (fact === 'unreadable') ledger.tally.unreadable++
        else if (fact !== undefined) facts.push(fact)
        if (facts.length >= stepFacts) await entered()
      },
      onUnread: () => void ledger.tally.unreadable++,
      async onPassed(watermark) {
        if (watermark === Number.POSITIVE_INFINITY || facts.length === 0) return
        await entered()
        await ledger.settle({ watermark, isPresent: false, completeFrom: complete.times, isPaused })
      },
    })
    await entered()
    await ledger.settle({
      watermark: Math.min(readMs, nowMs()),
      isPresent: true,
      isFinal: true,
      targetTopics: new Set(targetTopics),
      completeFrom: complete.times,
      isPaused,
    })
    return await verdictOf(ledger, findings, scope)
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}
