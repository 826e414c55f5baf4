/**
 * restart: `npm start` with its own broker and registry, pending jobs, and some jobs that fire each second. The program gets a
 * kill -9 and starts again at once. The figure is the time from the kill to the first fire after it, by the log. The phases come
 * from the output of the program, the broker and the registry.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectLog } from '../../src/log/kafka/log.ts'
import { type Bed, jobs } from '../tools/bed.ts'
import { Program } from '../tools/program.ts'
import { post } from './bulk.ts'

const farMs = 7 * 86_400_000
const payloadBytes = 200
const ticking = 20
const ticks = 'bench-ticks'
/** The killed program has run this long: by then its groups, transactions and stores are in full use. */
const warmMs = 5_000

export async function restart(_bed: Bed, n = 200_000): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-bench-restart-'))
  const { kafkaPort, env } = await Program.settings(folder)
  env.DUELOG_TARGET_TOPICS = ticks
  let program = new Program(env)
  try {
    await program.ready()
    const log = connectLog({ brokers: [`127.0.0.1:${kafkaPort}`], clientId: 'bench' })
    await log.ensureTopics({ plans: [{ topic: ticks, schema: 'execution', config: {} }], partitions: 1, replication: 1 })
    const at = Date.now() + farMs
    await post(program.url, [...jobs(n, (index) => at + index, payloadBytes), ...tickingJobs()])
    await new Promise((resolve) => setTimeout(resolve, warmMs))
    const load = Number((loadavg()[0] ?? 0).toFixed(1))
    await program.end('SIGKILL')
    const killedAt = Date.now()
    program = new Program(env)
    const readyAt = await program.ready()
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const fires: number[] = []
    await log.readToEnd({
      topics: [ticks],
      onRecord: ({ timestampMs }) => void fires.push(timestampMs),
      onProgress: () => {},
      signal: AbortSignal.timeout(60_000),
    })
    const after = fires.filter((time) => time > killedAt)
    return {
      ...{ n, load, firstFireMs: Math.min(...after) - killedAt, readyMs: readyAt - killedAt },
      phases: phasesOf(program, folder, killedAt),
    }
  } finally {
    await program.end('SIGTERM')
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

function* tickingJobs() {
  for (let index = 0; index < ticking; index++)
    yield { id: `tick-${index}`, schedule: { everyMs: 1_000 }, target: { topic: { name: ticks } }, payload: 'x' }
}

/** The end of each phase, in ms after the kill. */
function phasesOf({ lines, startedAt }: Program, folder: string, killedAt: number): Record<string, number> {
  const phases: Record<string, number> = { spawned: startedAt - killedAt }
  for (const { time, msg } of lines) {
    const name = /^(Start: .*|embedded broker.* up|Assigned|Partition \d+ is active|ready)/.exec(msg)?.[0]
    if (name !== undefined) phases[name] = time - killedAt
  }
  for (const [name, pattern] of [
    ['kafka', /^(\S+) .*Kafka Server started/m],
    ['registry', /^(\d{4}-\S+ \S+) .*Listening on/m],
  ] as const) {
    const text = readFileSync(join(folder, 'logs', `${name}.log`), 'utf8')
    const time = pattern.exec(text)?.[1]
    if (time !== undefined)
      phases[`${name}.log started`] = new Date(time.replace(',', '.').replace(' ', 'T')).getTime() - killedAt
  }
  return phases
}
