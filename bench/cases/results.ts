/**
 * results: 20 callers, each of which schedules a job that is due at once, waits for its result, and then schedules the next one. The figure is the
 * time from the return of the handler until the caller has the result: over HTTP by `?wait=ended`, and by `result()` of the client.
 */
import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, Stage } from '../tools/bed.ts'
import { steadyMs } from '../tools/path-marks.ts'
import { type Spread, Timings } from '../tools/timings.ts'

const callers = 20
/** The same load runs first and is reported apart: processes compile their code while the first requests come. */
const warmUp = 500
const timeoutMs = 40_000
/** The mean of the random pause of a caller before each request. Without it the callers ask as fast as two cores answer. */
const pauseMs = Number(process.env.BENCH_PAUSE_MS ?? 100)

/** What the handler returns: when, by the steady clock of this machine, which all its processes share. */
interface Returned {
  returnedMs: number
}

type Ask = (id: string) => Promise<Returned>

interface Waits {
  /** From the return of the handler. */
  answerMs: Spread
  /** From the request. */
  wholeMs: Spread
}

/** `n`: results for each way. */
export async function results(bed: Bed, n = 2_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  try {
    await stage.start('executor,retrier', 'executor')
    const { url } = await stage.start('scheduler,api', 'owner')
    const client = createClient({ url })
    const ways: Record<string, Ask> = {
      http: (id) => put(`${url}/v1/jobs/${id}?wait=ended&timeoutMs=${timeoutMs}`, agent),
      client: (id) => client.schedule({ id, ...dueAtOnce }).result<Returned>({ timeoutMs }),
    }
    const measured: Record<string, unknown> = { n, callers }
    for (const [name, ask] of Object.entries(ways)) {
      measured[`${name}WarmUp`] = await waits(`warm-${name}`, warmUp, ask)
      measured[name] = await waits(name, n, ask)
    }
    await client.close()
    return measured
  } finally {
    agent.destroy()
    await stage.close()
  }
}

const dueAtOnce = { schedule: { delayMs: 0 }, target: { handler: 'answer' }, payload: 'x'.repeat(200) }

async function waits(name: string, n: number, ask: Ask): Promise<Waits> {
  const [answer, whole] = [new Timings(), new Timings()]
  let next = 0
  const call = async (): Promise<void> => {
    while (next < n) {
      const id = `${name}-${next++}`
      await setTimeout(Math.random() * 2 * pauseMs)
      const askedMs = steadyMs()
      const { returnedMs } = await ask(id)
      const now = steadyMs()
      answer.record(now - returnedMs)
      whole.record(now - askedMs)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return { answerMs: answer.spread, wholeMs: whole.spread }
}

function put(url: string, agent: Agent): Promise<Returned> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'PUT', agent, headers: { 'content-type': 'application/json' } }, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('end', () => {
        const text = Buffer.concat(parts).toString()
        const { run } = JSON.parse(text) as { run?: { result?: Returned } | null }
        if (run?.result?.returnedMs === undefined) reject(new Error(`PUT was answered with ${answer.statusCode}: ${text}`))
        else resolve(run.result)
      })
    })
    call.on('error', reject)
    call.end(JSON.stringify(dueAtOnce))
  })
}
