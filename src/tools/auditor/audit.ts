/**
 * The independent check as one pass: it reads the log of a cluster, as any consumer could, and judges it. It asks no owner.
 * Its accounts are in a temporary folder that is deleted afterwards, so that memory does not grow with the log.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Table from 'cli-table3'
import { DuelogError } from '../../ground/errors/index.ts'
import type { RecordIn } from '../../ground/ports/index.ts'
import { type Cluster, type ClusterOptions, clusterOf } from '../../log/cluster/index.ts'
import { rocksStores } from '../../log/store/index.ts'
import { type JobAccount, runsOf, unknown } from './accounts/index.ts'
import { type Finding, type FindingKind, findingKinds, type Lateness, latenessOf, latenessRows } from './findings/index.ts'
import { Ledger } from './ledger.ts'
import { CompleteFrom, type Fact, factOf, PausedPools, poolOf } from './reading/index.ts'
import { countRun } from './review.ts'

interface AuditOptions {
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

export interface Verdict {
  /** Runs whose dispatch was read, or that were written to a topic of the user. */
  runs: number
  jobs: number
  /** Nominal times that were compared with the calendar. */
  occurrences: number
  succeeded: number
  dead: number
  /** Runs that have not ended yet. */
  open: number
  /** Runs that wait for a limit; `runs` counts them only when they are dispatched. */
  waiting: number
  /** Runs with more than one attempt. */
  retried: number
  /** Attempts with more than one start. Workers run at least once, so this is no fault of the schedule. */
  startedAgain: number
  /** Records that are not Duelog's, or broken. */
  unreadable: number
  /**
   * What could not be judged: runs of jobs with too many open runs, calendars that are too long, and calendars whose definition is gone
   * from the log.
   */
  unjudged: number
  /** Start of first attempts after their due time, in ms; undefined when nothing started. */
  lateness: Lateness | undefined
  /** The first ones; `found` counts all. */
  findings: Finding[]
  found: number
}

/** Findings that are listed. */
const findingsMax = 10_000
/** Findings of each kind that are listed; --json lists all. */
const namedMax = 10

/** To be called when the ledger was settled. Open runs count as runs. */
export async function verdictOf(ledger: Ledger, findings: Finding[], scope: { from: number; to: number }): Promise<Verdict> {
  let [jobs, open, waiting] = [0, 0, 0]
  await ledger.each((account) => {
    if (isThere(account)) jobs++
    for (const run of runsOf(account)) {
      if (run.scheduledFor === unknown || run.scheduledFor < scope.from || run.scheduledFor >= scope.to) continue
      const dispatched = run.attempts.some(({ dispatches }) => dispatches > 0)
      if (dispatched) open++
      else if (run.status === 'WAITING') waiting++
      countRun(run, 'open', ledger.tally)
    }
  })
  const { runs, occurrences, succeeded, dead, retried, startedAgain, unreadable } = ledger.tally
  const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((total, count) => total + count, 0)
  return {
    ...{ runs, jobs, occurrences, succeeded, dead, open, waiting, retried, startedAgain, unreadable },
    unjudged: sum(ledger.tally.unjudged),
    lateness: latenessOf(ledger.tally.lateness),
    findings,
    found: sum(ledger.tally.findings),
  }
}

/** Whether the job is not deleted. */
function isThere({ state, plans, deletedAt }: JobAccount): boolean {
  return state !== undefined || (plans.length > 0 && deletedAt < (plans.at(-1)?.offset ?? 0))
}

export function isClean({ found }: Verdict): boolean {
  return found === 0
}

/** At most 80 columns wide, except for long ids; no colors. */
export function auditText(verdict: Verdict): string {
  const { findings, lateness } = verdict
  const number = (value: number): string => value.toLocaleString('en-US')
  const table = new Table({ colAligns: ['left', 'right'], style: { head: [], border: [], compact: true } })
  const ofKind = (kind: FindingKind) => findings.filter((finding) => finding.kind === kind)
  table.push(
    ['jobs', number(verdict.jobs)],
    ['runs dispatched', number(verdict.runs)],
    ['succeeded', number(verdict.succeeded)],
    ['dead', number(verdict.dead)],
    ['not ended yet', number(verdict.open)],
    ['waiting for a limit', number(verdict.waiting)],
    ['retried', number(verdict.retried)],
    ['attempts started again', number(verdict.startedAgain)],
    ['occurrences by the calendar', number(verdict.occurrences)],
    ['unreadable records', number(verdict.unreadable)],
    ['not judged', number(verdict.unjudged)],
    ...findingKinds.map((kind): [string, string] => [kind, number(ofKind(kind).length)]),
    ...latenessRows(lateness),
  )
  const named = findingKinds.flatMap((kind) => {
    const found = ofKind(kind)
    if (found.length === 0) return []
    const more = found.length > namedMax ? [`  and ${number(found.length - namedMax)} more`] : []
    return [`${kind}:`, ...found.slice(0, namedMax).map(({ what, detail }) => `  ${what}: ${detail}`), ...more]
  })
  const end = isClean(verdict)
    ? "By the log each occurrence that was due ran once, or was skipped by its job's policy; none ran early."
    : ['NOT clean.', ...named].join('\n')
  return `${table.toString()}\n\n${end}\n`
}
