/** A Duelog process under test. It runs the roles of its environment, counts the runs of its handler, and reports over IPC. */
import { channel } from 'node:diagnostics_channel'
import { readConfig } from '../../src/ground/config/config.ts'
import { loadSystem } from '../../src/program/cli/commands/compiled-code.ts'
import { boundHeap } from '../../src/program/cli/memory.ts'
import { startChannel, steadyMs } from './path-marks.ts'
import type { ChildReport } from './processes.ts'
import { Timings } from './timings.ts'

boundHeap()
const startedAt = performance.timeOrigin
const lateness = new Timings()
/** The lateness of jobs whose id begins with warm-. They warm up connections and compiled code. */
const warmUpLateness = new Timings()
const seen = new Map<string, number>()
const starts = channel(startChannel)
let early = 0
let firstStartAt = 0
let lastStartAt = 0

/** Counts a start. */
function counted(run: { jobId: string; runNo: number; attempt: number; dueAt: number }): void {
  if (starts.hasSubscribers) starts.publish(run.jobId)
  const now = performance.timeOrigin + performance.now()
  const lateMs = now - run.dueAt
  if (Math.round(lateMs * 1_000) < 0) early++
  const timings = run.jobId.startsWith('warm-') ? warmUpLateness : lateness
  timings.record(lateMs)
  if (firstStartAt === 0) firstStartAt = now
  lastStartAt = Math.max(lastStartAt, now)
  const id = `${run.jobId}/${run.runNo}/${run.attempt}`
  seen.set(id, (seen.get(id) ?? 0) + 1)
}

const config = readConfig(process.env)
const startSystem = await loadSystem(config.dataDir)
const fail = (run: Parameters<typeof counted>[0]): never => {
  counted(run)
  throw new Error('as the benchmark wants it')
}
/** Says when it returned, by the steady clock of this machine. */
const answer = (run: Parameters<typeof counted>[0]): { returnedMs: number } => {
  counted(run)
  return { returnedMs: steadyMs() }
}
const system = await startSystem({ config, handlers: { bench: counted, fail, answer } })
await system.ready()

function report(): ChildReport {
  let duplicates = 0
  for (const times of seen.values()) duplicates += times - 1
  return {
    starts: seen.size + duplicates,
    timedStarts: lateness.count,
    distinct: seen.size,
    duplicates,
    early,
    firstStartAt,
    lastStartAt,
    latenessMs: lateness.spread,
    warmUpLatenessMs: warmUpLateness.spread,
    rssBytes: process.memoryUsage.rss(),
    rssPeakBytes: process.resourceUsage().maxRSS * 1_024,
    cpuMs: (process.cpuUsage().user + process.cpuUsage().system) / 1_000,
  }
}

process.on('message', (message) => {
  if (message === 'report') process.send?.({ kind: 'report', report: report() })
  if (message === 'stop') {
    void system.stop().then(() => {
      process.send?.({ kind: 'stopped' })
      process.disconnect()
    })
  }
})
// The parent has ended: this process must not outlive it.
process.on('disconnect', () => void system.stop().then(() => process.exit(0)))
process.send?.({ kind: 'ready', url: system.url, readyMs: Date.now() - startedAt })
