/**
 * api: single PUTs with wait=applied at a steady rate, while jobs fire at another rate. The figure is the time from when a
 * request was due to be sent to the end of its answer. The loop is open: a slow answer does not delay the next request.
 */
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, benchJob, jobs, Stage } from '../tools/bed.ts'
import { Timings } from '../tools/timings.ts'
import { applied } from './accept.ts'
import { settled } from './settled.ts'

const putsPerSecond = 200
const firesPerSecond = 1_000
const aheadMs = 30_000
/** The same load runs first and is reported apart: processes compile their code while the first requests come. */
const warmUpMs = 10_000
const farMs = 7 * 86_400_000

/** `n`: the number of measured PUTs. */
export async function api(bed: Bed, n = 6_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  try {
    const executor = await stage.start('executor,retrier', 'executor')
    const owner = await stage.start('scheduler,api', 'owner')
    const from = Date.now() + aheadMs
    const spanMs = warmUpMs + (n / putsPerSecond) * 1_000
    const fires = Math.ceil((spanMs / 1_000) * firesPerSecond)
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    await client.scheduleMany(jobs(fires, () => Math.floor(from + Math.random() * spanMs), 100, 'fire'))
    await applied(stage, owner.url)
    await client.close()
    // Above zero, the fires began before the requests: this machine is too slow for the case.
    const lateMs = Math.max(0, Date.now() - from)
    const begin = from + lateMs
    const warm = await load(owner.url, agent, { name: 'warm', from: begin, count: (warmUpMs / 1_000) * putsPerSecond })
    const measured = await load(owner.url, agent, { name: 'put', from: begin + warmUpMs, count: n })
    const report = await settled(executor, fires, begin + spanMs)
    return {
      n,
      putsPerSecond,
      firesPerSecond,
      lateMs,
      answers: measured.answers,
      putMs: measured.ms,
      warmUpPutMs: warm.ms,
      fired: report.distinct,
      lost: fires - report.distinct,
      duplicates: report.duplicates,
      fireLatenessMs: report.latenessMs,
      ownerCpuMs: Math.round((await owner.report()).cpuMs),
    }
  } finally {
    agent.destroy()
    await stage.close()
  }
}

interface Load {
  name: string
  from: number
  count: number
}

async function load(url: string, agent: Agent, { name, from, count }: Load) {
  const timings = new Timings()
  const answers: Record<string, number> = {}
  const open: Promise<void>[] = []
  for (let index = 0; index < count; index++) {
    const dueAt = from + (index * 1_000) / putsPerSecond
    const leftMs = dueAt - Date.now()
    if (leftMs > 0) await wait(leftMs)
    open.push(
      put(`${url}/v1/jobs/${name}-${index}?wait=applied`, agent).then((status) => {
        answers[status] = (answers[status] ?? 0) + 1
        timings.record(performance.timeOrigin + performance.now() - dueAt)
      }),
    )
  }
  await Promise.all(open)
  return { answers, ms: timings.spread }
}

/** Resolves with the status, or with the code of the error. */
function put(url: string, agent: Agent): Promise<string> {
  const { id: _, ...job } = benchJob('', Date.now() + farMs, 200)
  return new Promise((resolve) => {
    const call = request(url, { method: 'PUT', agent, headers: { 'content-type': 'application/json' } }, (answer) => {
      answer.resume().on('end', () => resolve(String(answer.statusCode)))
    })
    call.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    call.end(JSON.stringify(job))
  })
}
