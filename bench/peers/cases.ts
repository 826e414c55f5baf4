/**
 * The cases. Each is the same work for every system, with one process that schedules and one that works. Payloads have 200 bytes.
 *
 *   bulk        jobs for tomorrow by the library's call for many: jobs/s until the last is acknowledged
 *   single      one caller, one job after the other, for 5 s: jobs/s, p50 and p99 of a call
 *   callers     100 callers, each one job after the other, for 5 s: the same
 *   storm       jobs that are due at one instant: ms from the instant to the start of the last handler
 *   precision   1,000 jobs a second at random milliseconds: p50 and p99 of start minus due time, in ms
 *   now         20 jobs a second that are due at once, one call each: p50 and p99 from the call to the start, in ms
 *
 * The same calls, with other jobs, warm the processes up first. At the end each job must be there once: stored (the first three),
 * or started once and not early (the others). The first three run without a worker.
 */
import { setTimeout } from 'node:timers/promises'
import { settled } from '../cases/settled.ts'
import type { Starts } from './child.ts'
import { PeerProcess } from './peer-process.ts'
import { type SystemName, systems } from './systems/all.ts'
import type { Place } from './systems/system.ts'

export interface Result {
  figures: Record<string, number>
  /** What was wrong with the outcome: jobs that are lost, duplicate or early. */
  problems: string[]
}

export interface Sizes {
  /** Jobs of bulk and storm. */
  n: number
  /** Duration of precision. */
  seconds: number
}

interface Case {
  /** Names of the figures and their units, the main one first. */
  figures: Record<string, string>
  /** Whether more is better for the main figure. */
  isRate: boolean
  needsWorker: boolean
  run(processes: { producer: PeerProcess; worker: PeerProcess | undefined }, sizes: Sizes): Promise<Result>
}

const callMs = 5_000
const warmJobs = 2_000
const lookMs = 250
const callers = 100
const nowJobs = 300
const nowPerSecond = 20

export const cases = {
  bulk: {
    figures: { jobsPerSecond: 'jobs/s', cpuUsEach: 'µs of the program for a job' },
    isRate: true,
    needsWorker: false,
    async run({ producer }, { n }) {
      await producer.call('bulk', warmJobs)
      const { tookMs, cpuMs } = await producer.call('bulk', n)
      const figures = { jobsPerSecond: Math.round((n * 1_000) / tookMs), cpuUsEach: round((cpuMs * 1_000) / n) }
      return { figures, problems: await stored(producer, warmJobs + n) }
    },
  },
  single: singleJobs(1),
  callers: singleJobs(callers),
  storm: {
    figures: { lastStartMs: 'ms' },
    isRate: false,
    needsWorker: true,
    async run({ producer, worker }, { n }) {
      if (worker === undefined) throw new Error('no worker')
      await warm(producer, worker)
      // Time to write the jobs, and for the systems to see the burst coming.
      const dueAtMs = Date.now() + 15_000 + n / 8
      await producer.call('timed', n, dueAtMs, 0)
      const writtenMs = Date.now()
      const starts = await settled(reportsOf(worker), n, dueAtMs)
      const problems = problemsOf(starts, n)
      if (writtenMs > dueAtMs) problems.push(`written ${Math.round(writtenMs - dueAtMs)} ms after they were due`)
      return { figures: { lastStartMs: Math.round(starts.lastMs - dueAtMs) }, problems }
    },
  },
  precision: {
    figures: { p99: 'ms', p50: 'ms' },
    isRate: false,
    needsWorker: true,
    async run({ producer, worker }, { seconds }) {
      if (worker === undefined) throw new Error('no worker')
      await warm(producer, worker)
      const n = seconds * 1_000
      const fromMs = Date.now() + 10_000 + n / 8
      await producer.call('timed', n, fromMs, seconds * 1_000)
      const starts = await settled(reportsOf(worker), n, fromMs + seconds * 1_000)
      return { figures: { p99: round(starts.p99), p50: round(starts.p50) }, problems: problemsOf(starts, n) }
    },
  },
  now: {
    figures: { p50: 'ms', p99: 'ms' },
    isRate: false,
    needsWorker: true,
    async run({ producer, worker }) {
      if (worker === undefined) throw new Error('no worker')
      await warm(producer, worker)
      await producer.call('now', 'job', nowJobs, nowPerSecond)
      const starts = await settled(reportsOf(worker), nowJobs, Date.now())
      return { figures: { p50: round(starts.p50), p99: round(starts.p99) }, problems: problemsOf(starts, nowJobs) }
    },
  },
} satisfies Record<string, Case>

export type CaseName = keyof typeof cases
export const caseNames = Object.keys(cases) as CaseName[]

/** One run in new processes. */
export async function runCase(name: CaseName, system: SystemName, place: Place, sizes: Sizes): Promise<Result> {
  const { needsWorker, run } = cases[name] as Case
  const producer = await PeerProcess.start('producer', system, place)
  let worker: PeerProcess | undefined
  try {
    if (needsWorker) worker = await PeerProcess.start('worker', system, place)
    return await run({ producer, worker }, sizes)
  } finally {
    await producer.stop()
    await worker?.stop()
  }
}

/** Whether the system has what the case needs. */
export const canRun = (name: CaseName, system: SystemName): boolean =>
  !cases[name].needsWorker || 'work' in systems[system].system

function singleJobs(together: number): Case {
  return {
    figures: { jobsPerSecond: 'jobs/s', p50: 'ms', p99: 'ms' },
    isRate: true,
    needsWorker: false,
    async run({ producer }) {
      const before = await producer.call('single', together, callMs / 2)
      const { count, tookMs, p50, p99 } = await producer.call('single', together, callMs)
      const figures = { jobsPerSecond: Math.round((count * 1_000) / tookMs), p50: round(p50), p99: round(p99) }
      return { figures, problems: await stored(producer, before.count + count) }
    },
  }
}

/** Jobs that are due at once, until the worker has started each. */
async function warm(producer: PeerProcess, worker: PeerProcess): Promise<void> {
  const n = 200
  await producer.call('now', 'warm', n, 100)
  for (let looks = 0; looks < 120 && (await worker.call('starts')).warm < n; looks++) await setTimeout(lookMs)
}

async function stored(producer: PeerProcess, n: number): Promise<string[]> {
  const count = await producer.call('count')
  return count === n ? [] : [`${count} stored of ${n}`]
}

const reportsOf = (worker: PeerProcess) => ({ report: () => worker.call('starts') })

function problemsOf({ distinct, duplicates, early }: Starts, n: number): string[] {
  const problems: string[] = []
  if (distinct < n) problems.push(`${n - distinct} lost`)
  if (duplicates > 0) problems.push(`${duplicates} duplicate`)
  if (early > 0) problems.push(`${early} early`)
  return problems
}

const round = (value: number): number => Math.round(value * 100) / 100
