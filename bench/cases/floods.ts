/**
 * floods: masses of legal work beside jobs that fire 500 times a second, all in one process. The figures are: how late the runs
 * of those jobs were in the log before and during the flood, by the append times of the brokers; whether one was lost or doubled;
 * and the peak memory of the process. Each case has one flood, and `n` is its size. BENCH_FIRES sets the fires per second.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { KafkaClient } from '../../src/clients/client/client.ts'
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, Stage } from '../tools/bed.ts'
import { Requests } from '../tools/floods/requests.ts'
import { neighbourReport, neighbours } from '../tools/neighbours.ts'
import type { DuelogProcess } from '../tools/processes.ts'
import { applied } from './accept.ts'

const warmUpMs = 10_000
const quietMs = 15_000
const floodMsMax = 40_000
const firesPerSecondDefault = 500

export interface FloodContext {
  stage: Stage
  client: KafkaClient
  process: DuelogProcess
  requests: Requests
  n: number
  /** Aborts when the flood is over, at the latest. */
  signal: AbortSignal
}

export interface Flood {
  n: number
  firesPerSecond?: number
  /** Writes what the flood needs, before the quiet time. */
  prepare?(context: FloodContext): Promise<void>
  /** Resolves with the figures when the flood is over. */
  run(context: FloodContext): Promise<Record<string, unknown>>
}

export const floodCase =
  (flood: Flood) =>
  async (bed: Bed, n = flood.n): Promise<Record<string, unknown>> => {
    const stage = await Stage.open(bed)
    const requests = new Requests()
    const ended = new AbortController()
    try {
      const process = await stage.start('scheduler,executor,retrier,api', 'all', { DUELOG_CONCURRENCY: '200' })
      requests.url = process.url
      const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
      const context: FloodContext = { stage, client, process, requests, n, signal: ended.signal }
      await flood.prepare?.(context)
      const firesPerSecond = Number(globalThis.process.env.BENCH_FIRES ?? flood.firesPerSecond ?? firesPerSecondDefault)
      const fromMs = Date.now() + 3_000
      const longMs = warmUpMs + quietMs + floodMsMax + 5_000
      await client.scheduleMany(neighbours(firesPerSecond, fromMs, fromMs + longMs))
      await applied(stage, process.url)
      await wait(fromMs + warmUpMs + quietMs - Date.now())
      const before = await process.report()
      const floodFromMs = Date.now()
      const timer = setTimeout(() => ended.abort(), floodMsMax)
      const told = await flood.run(context)
      clearTimeout(timer)
      const floodUntilMs = Date.now()
      ended.abort()
      await wait(Math.max(0, fromMs + longMs + 2_000 - Date.now()))
      const after = await process.report()
      const windows = {
        quiet: { fromMs: fromMs + warmUpMs, untilMs: floodFromMs },
        flood: { fromMs: floodFromMs, untilMs: floodUntilMs },
      }
      const report = await neighbourReport(stage, windows)
      await client.close()
      return {
        ...{ n, firesPerSecond, floodMs: floodUntilMs - floodFromMs, ...told },
        neighbours: report,
        duplicates: after.duplicates - before.duplicates,
        rssMb: { before: mb(before.rssBytes), peak: mb(after.rssPeakBytes) },
        cpuMs: Math.round(after.cpuMs - before.cpuMs),
      }
    } finally {
      ended.abort()
      requests.close()
      await stage.close()
    }
  }

const mb = (bytes: number): number => Math.round(bytes / 2 ** 20)
