/**
 * costs: processor time of the client, the owner, the worker and the brokers for one definition and for one run, and the bytes of a
 * definition in the log and in the store. The page SIZING calculates with them. The processes are idle for a while first, and what
 * they use then is subtracted. BENCH_PER_SECOND: runs a second of the steady load; default 1,000. It reads Linux's /proc, and counts
 * every Kafka broker of the machine.
 */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, jobs, Stage } from '../tools/bed.ts'
import type { DuelogProcess } from '../tools/processes.ts'
import { brokersCpuMs } from '../tools/usage.ts'
import { applied, perSecond } from './accept.ts'
import { settled } from './settled.ts'

const farMs = 7 * 86_400_000
const payloadBytes = 200
const warmUpCount = 20_000
const warmUpMs = 10_000
/** The compilers and collectors of the processes are done with the warm-up after this time. */
const restMs = 20_000
const idleMs = 20_000
const perSecondDue = Number(process.env.BENCH_PER_SECOND ?? 1_000)
const steadyMs = 30_000
/** Time to write the definitions of the runs, and for the owner to see a burst coming. */
const aheadMs = 20_000

/** Processor time since the start of each process. */
interface Cpu {
  atMs: number
  clientMs: number
  ownerMs: number
  workerMs: number
  brokersMs: number
  starts: number
  commits: number
}

interface Setting {
  stage: Stage
  owner: DuelogProcess
  worker: DuelogProcess
}

/** `n`: definitions, and half as many runs of a burst. */
export async function costs(bed: Bed, n = 200_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const worker = await stage.start('executor,retrier', 'worker', { DUELOG_CONCURRENCY: '200' })
    const owner = await stage.start('scheduler', 'owner')
    const setting = { stage, owner, worker }
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    const write = async (count: number, atOf: (index: number) => number, name: string): Promise<void> => {
      await client.scheduleMany(jobs(count, atOf, payloadBytes, name))
      await applied(stage, owner.url)
    }
    const far = Date.now() + farMs
    await write(warmUpCount, () => far, 'warm-definition')
    await runs(setting, write, { name: 'warm-run', count: warmUpCount, atOf: (from) => from })
    await setTimeout(restMs)
    const begin = await cpuOf(setting)
    await setTimeout(idleMs)
    const idle = difference(begin, await cpuOf(setting))

    const logBytes = await logBytesOf(bed)
    const storeBytes = await bytesIn(stage.folder)
    const beforeWrite = await cpuOf(setting)
    await write(n, (index) => far + index, 'definition')
    const written = difference(beforeWrite, await cpuOf(setting))
    const definition = {
      count: n,
      perSecond: perSecond(n, written.atMs),
      clientUs: microseconds(written.clientMs, n),
      ...costsOf(written, idle, n),
      ...(logBytes !== undefined && { logBytes: Math.round((((await logBytesOf(bed)) ?? 0) - logBytes) / n) }),
      storeBytes: Math.round(((await bytesIn(stage.folder)) - storeBytes) / n),
    }

    const steadyCount = ((warmUpMs + steadyMs) / 1_000) * perSecondDue
    const atOf = (from: number): number => Math.floor(from + Math.random() * (warmUpMs + steadyMs))
    const spread = await runs(setting, write, { name: 'steady', count: steadyCount, atOf, skippedMs: warmUpMs, spanMs: steadyMs })
    const burst = await runs(setting, write, { name: 'burst', count: n / 2, atOf: (from) => from })
    await client.close()
    return {
      n,
      brokers: bed.brokers.length,
      replication: bed.replication,
      definition,
      steady: { ...spread, ...costsOf(spread.cpu, idle, spread.count), cpu: undefined },
      burst: { ...burst, ...costsOf(burst.cpu, idle, burst.count), cpu: undefined },
    }
  } finally {
    await stage.close()
  }
}

interface Load {
  name: string
  count: number
  /** Due times, after this time. */
  atOf: (from: number) => number
  /** This time at the beginning is not counted. Default: 0. */
  skippedMs?: number
  /** How long it is counted. Default: until the last run has started. */
  spanMs?: number
}

interface Measured {
  /** Runs that started while it was measured. */
  count: number
  lost: number
  runsPerCommit: number
  cpu: Cpu
}

async function runs(
  setting: Setting,
  write: (count: number, atOf: () => number, name: string) => Promise<void>,
  { name, count, atOf, skippedMs = 0, spanMs }: Load,
): Promise<Measured> {
  const { worker } = setting
  const { distinct } = await worker.report()
  const from = Date.now() + aheadMs + count / 10
  await write(count, () => atOf(from), name)
  // A burst begins up to 10 s before it is due.
  await setTimeout(Math.max(0, from + (spanMs === undefined ? -11_000 : skippedMs) - Date.now()))
  const before = await cpuOf(setting)
  if (spanMs !== undefined) await setTimeout(spanMs)
  else await settled(worker, distinct + count, from)
  const cpu = difference(before, await cpuOf(setting))
  const end = await settled(worker, distinct + count, from + skippedMs + (spanMs ?? 0))
  return {
    count: cpu.starts,
    lost: distinct + count - end.distinct,
    runsPerCommit: Math.round((cpu.starts / cpu.commits) * 10) / 10,
    cpu,
  }
}

async function cpuOf({ owner, worker }: Setting): Promise<Cpu> {
  const { user, system } = process.cpuUsage()
  const [ownerReport, workerReport, brokersMs, metrics] = await Promise.all([
    owner.report(),
    worker.report(),
    brokersCpuMs(),
    fetch(new URL('/metrics', owner.url)).then((answer) => answer.text()),
  ])
  return {
    atMs: performance.now(),
    clientMs: (user + system) / 1_000,
    ownerMs: ownerReport.cpuMs,
    workerMs: workerReport.cpuMs,
    brokersMs,
    starts: workerReport.starts,
    commits: Number(/^duelog_commit_seconds_count(?:\{[^}]*\})? (\d+)/m.exec(metrics)?.[1]),
  }
}

function difference(before: Cpu, after: Cpu): Cpu {
  const names = Object.keys(before) as (keyof Cpu)[]
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as unknown as Cpu
}

/** Processor time for one, in µs, without what the idle processes need in the same time. */
function costsOf(cpu: Cpu, idle: Cpu, count: number): Record<string, number> {
  const share = cpu.atMs / idle.atMs
  return {
    ownerUs: microseconds(cpu.ownerMs - share * idle.ownerMs, count),
    workerUs: microseconds(cpu.workerMs - share * idle.workerMs, count),
    brokersUs: microseconds(cpu.brokersMs - share * idle.brokersMs, count),
  }
}

const microseconds = (ms: number, count: number): number => Math.round((ms * 10_000) / count) / 10

/** Bytes of all logs of the broker that was started for the run; undefined for other brokers. */
const logBytesOf = async ({ logDir }: Bed): Promise<number | undefined> =>
  logDir === undefined ? undefined : bytesIn(logDir, '.log')

/** Bytes of the files in a folder, and in its folders, whose names end like this. */
async function bytesIn(folder: string, ending = ''): Promise<number> {
  let sum = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(ending)) continue
    // A store removes files while it is read.
    sum += (await stat(join(entry.parentPath, entry.name)).catch(() => ({ size: 0 }))).size
  }
  return sum
}
