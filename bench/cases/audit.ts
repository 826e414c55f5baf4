/**
 * audit: the auditor gets n occurrences of 20,000 jobs as facts, over a store on disk. A fact is what remains of a decoded
 * record; each occurrence has five. Memory is reported at each million. Then `duelog audit` itself judges the records of 20,000
 * occurrences on a real broker, which shows the cost of reading and decoding.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FinishedRun, JobState } from '../../schemas/generated.ts'
import { rocksStores } from '../../src/log/store/rocks-store.ts'
import { audit as auditLog } from '../../src/tools/auditor/audit.ts'
import { latenessOf } from '../../src/tools/auditor/findings/findings.ts'
import { Ledger } from '../../src/tools/auditor/ledger.ts'
import { type Fact, planSpec } from '../../src/tools/auditor/reading/record-facts.ts'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'
import { type Bed, Stage } from '../tools/bed.ts'
import { definitions, minuteMs, recordsOfRun, type SyntheticRecord } from '../tools/synthetic-log.ts'

/**
 * Jobs whose runs have all five records. Each job gets a record once a minute of the log, so most accounts come from the store.
 */
const jobs = 20_000
const savedEach = 1_000_000
const startMs = Date.parse('2026-01-01T00:00:00Z')
const graceMs = 10_000
const stepFacts = 2_000
const realOccurrences = 20_000
const none = { executions: 0, control: 0 }

export async function audit(bed: Bed, n = 1_000_000): Promise<Record<string, unknown>> {
  return {
    ...(await judge(n, factsOf(n))),
    ...(await read(bed)),
  }
}

function* factsOf(n: number): Generator<Fact[]> {
  for (let index = 0; index < n; index++) yield [...recordsOfRun(index, jobs, startMs)].map(factOf)
}

async function judge(n: number, runs: Iterable<Fact[]>): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-bench-audit-'))
  const { store } = await rocksStores(folder).open(0)
  try {
    let found = 0
    const scope = { from: 0, to: Number.POSITIVE_INFINITY, graceMs }
    const ledger = new Ledger({ store, scope, onFinding: () => void found++ })
    const rssMb: Record<string, number> = {}
    const beganMs = performance.now()
    const began = process.cpuUsage()
    let facts: Fact[] = []
    const entered = async (isLast = false): Promise<void> => {
      const watermark = (facts.at(-1)?.at ?? 0) - (isLast ? 0 : 1_000)
      await ledger.take(facts, Number.MAX_SAFE_INTEGER)
      facts = []
      await ledger.settle({ watermark, isPresent: false, isFinal: isLast, completeFrom: none, isPaused: () => false })
      await ledger.saveMany()
    }
    for (const record of definitions(jobs, startMs)) facts.push(factOf(record))
    let index = 0
    for (const run of runs) {
      index++
      facts.push(...run)
      if (facts.length >= stepFacts) await entered()
      if (index % savedEach === 0) {
        await ledger.save(undefined)
        rssMb[`${index / 1_000_000}M`] = rss()
        process.stderr.write(`${index} ${rss()} MB ${Math.round(performance.now() - beganMs)} ms\n`)
      }
    }
    await entered(true)
    const seconds = (performance.now() - beganMs) / 1_000
    const { user, system } = process.cpuUsage(began)
    const { tally } = ledger
    return {
      ...{ occurrences: n, records: tally.records, judgedRuns: tally.runs, byCalendar: tally.occurrences, found },
      ...{ lateness: latenessOf(tally.lateness), seconds: round(seconds), recordsPerSecond: Math.round(tally.records / seconds) },
      ...{ cpuMicrosPerRecord: round((user + system) / tally.records), rssMb, accountsInMemory: ledger.cached },
    }
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Does the same as src/tools/auditor/reading/record-facts.ts does with a record. */
function factOf({ jobId, atMs: at, key, value }: SyntheticRecord): Fact {
  const head = { jobId, at, byBroker: false }
  if (value.kind === 'definition') {
    const spec = planSpec(completeDefinition(value.definition))
    return { ...head, kind: 'definition', plan: { offset: value.offset, appendedAt: at, spec } }
  }
  if (value.kind === 'execution')
    return {
      ...head,
      kind: 'dispatch',
      byControl: false,
      dispatch: { trigger: 'SCHEDULE', ...value.execution } as never,
    }
  if (value.kind === 'event') return { ...head, kind: 'report', report: { worker: '', ...value.event } as never }
  const { state, run } = value.entry
  if (state != null) return { ...head, kind: 'state', state: { ...stateDefaults, ...state } as unknown as JobState }
  if (key.length > 0) return { ...head, kind: 'finished', run: { trigger: 'SCHEDULE', ...run } as unknown as FinishedRun }
  throw new Error('A state entry of another kind.')
}
const stateDefaults = { nextDueAt: null, failed: 0, cancelled: 0, skipped: 0, queuedFor: null, waiting: false }

async function read(bed: Bed): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const { names, codecs, log } = stage
    const writer = await log.writer()
    const topics = {
      jobs: names.jobs,
      state: names.state,
      executions: names.executions('default', 'NORMAL'),
      events: names.events,
    }
    const realStart = Date.now() - (realOccurrences / 1_000 + 2) * minuteMs
    const all = [...definitions(1_000, realStart)]
    for (let index = 0; index < realOccurrences; index++) all.push(...recordsOfRun(index, 1_000, realStart))
    const bytes = ({ value }: SyntheticRecord): Buffer => {
      if (value.kind === 'definition') return codecs.definition.encode(value.definition)
      if (value.kind === 'execution') return codecs.execution.encode(value.execution)
      return value.kind === 'event' ? codecs.event.encode(value.event) : codecs.state.encode(value.entry)
    }
    for (let from = 0; from < all.length; from += 5_000) {
      const records = all.slice(from, from + 5_000)
      await writer.write(
        records.map((record) => ({ topic: topics[record.topic], partition: 0, key: record.key, value: bytes(record) })),
      )
    }
    await writer.close()
    const beganMs = performance.now()
    const began = process.cpuUsage()
    const verdict = await auditLog({
      cluster: { brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix },
      ...{ from: undefined, to: undefined, graceMs, onProgress: () => {}, signal: new AbortController().signal },
    })
    const seconds = (performance.now() - beganMs) / 1_000
    const { user, system } = process.cpuUsage(began)
    return {
      ...{ readRecords: all.length, readRuns: verdict.runs, readSeconds: round(seconds) },
      ...{ readPerSecond: Math.round(all.length / seconds), readCpuMicrosPerRecord: round((user + system) / all.length) },
    }
  } finally {
    await stage.close()
  }
}

const rss = (): number => Math.round(process.memoryUsage.rss() / 1_048_576)
const round = (value: number): number => Math.round(value * 10) / 10
