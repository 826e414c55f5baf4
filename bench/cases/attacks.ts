/**
 * attacks: what strangers and heavy users do to the HTTP server of `npm start`, beside 100 jobs that fire once a second. For each attack: how
 * late the neighbours' handlers started, by what workers report to owners, and how long an ordinary request took meanwhile.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, benchJob } from '../tools/bed.ts'
import { dearRule } from '../tools/floods/dear-rules.ts'
import { Requests } from '../tools/floods/requests.ts'
import { Program } from '../tools/program.ts'

const neighbourCount = 100
const warmUpMs = 15_000
const attackMs = 15_000
const restMs = 5_000
const behindMax = 1_000
const hourMs = 3_600_000

interface Attack {
  requests: Requests
  signal: AbortSignal
}

const attacks: Record<string, (attack: Attack) => Promise<unknown>> = {
  async quiet({ signal }) {
    await ended(signal)
  },
  /** Each socket sends 400 requests at once, and again when it is closed. */
  async pipelined({ requests, signal }) {
    const text = 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(400)
    for (let socket = 0; socket < 50; socket++) requests.linger(text, signal, () => {})
    await ended(signal)
  },
  probes: ({ requests, signal }) => requests.flood(200, signal, () => requests.send('GET', '/livez')),
  plans: ({ requests, signal }) =>
    requests.flood(20, signal, (index) => {
      const jobs = Array.from({ length: 30 }, (_, place) => ({
        ...{ id: `plan-${place}`, schedule: dearRule(index * 30 + place), target: { handler: 'noop' } },
      }))
      return requests.send('POST', '/v1/jobs/plan', { jobs, horizonMs: 3_650 * 24 * hourMs, maxFires: 1_000 })
    }),
  /** Callers that wait for a run which does not end. */
  async callers({ requests, signal }) {
    const text = 'POST /v1/jobs/stuck/trigger?wait=ended&timeoutMs=60000 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n'
    for (let socket = 0; socket < 1_400; socket++) requests.linger(text, signal, () => {})
    await ended(signal)
  },
  async listeners({ requests, signal }) {
    for (let socket = 0; socket < 300; socket++)
      requests.linger('GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', signal, () => {})
    await ended(signal)
  },
  searches: ({ requests, signal }) => requests.flood(4, signal, () => requests.send('GET', '/v1/jobs?idPrefix=far&handler=none')),
}

const ended = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))

/** `n`: jobs that are searched. */
export async function attacksCase(_bed: Bed, n = 1_000_000): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-bench-attacks-'))
  const { env, kafkaPort } = await Program.settings(folder)
  const program = new Program(env)
  const requests = new Requests()
  try {
    await program.ready()
    requests.url = program.url
    const client = createClient({
      brokers: [`127.0.0.1:${kafkaPort}`],
      registryUrl: `http://127.0.0.1:${env.DUELOG_EMBEDDED_REGISTRY_PORT}/apis/ccompat/v7`,
    })
    await client.scheduleMany(written(n))
    await client.close()
    await wait(warmUpMs)
    // The auditor reads a million definitions; what is measured is the attack.
    while ((await behind(requests)) > behindMax) await wait(1_000)
    while ((await timed(requests, '/v1/jobs/neighbour-0')).status !== '200') await wait(1_000)
    const found: Record<string, unknown> = {}
    for (const [name, attack] of Object.entries(attacks)) {
      if (!(process.env.BENCH_ATTACKS?.split(',').includes(name) ?? true)) continue
      found[name] = await measured(requests, attack)
      requests.close()
      await wait(restMs)
    }
    return { n, load: Number((loadavg()[0] ?? 0).toFixed(1)), ...found }
  } finally {
    requests.close()
    await program.end('SIGTERM')
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

function* written(n: number) {
  const [far, first] = [Date.now() + 24 * hourMs, Date.now() + 10_000]
  for (let index = 0; index < n; index++) yield benchJob(`far-${index}`, far, 100)
  for (let index = 0; index < neighbourCount; index++)
    yield {
      id: `neighbour-${index}`,
      schedule: { everyMs: 1_000, anchor: first + (index * 1_000) / neighbourCount },
      ...{ target: { handler: 'noop' }, catchUp: 'ALL' as const, catchUpMax: 1_000 },
    }
  yield { id: 'stuck', schedule: { at: far }, target: { handler: 'sleep' }, payload: { ms: 600_000 }, maxConcurrentRuns: 100 }
}

async function measured(requests: Requests, attack: (attack: Attack) => Promise<unknown>): Promise<Record<string, unknown>> {
  const before = await latenessOf(requests)
  const signal = AbortSignal.timeout(attackMs)
  const told = attack({ requests, signal })
  const answers: number[] = []
  while (!signal.aborted) {
    const { ms, status } = await timed(requests, '/v1/jobs/neighbour-0')
    answers.push(status === '200' ? ms : Number.POSITIVE_INFINITY)
    await wait(200)
  }
  const answered = await told
  const after = await latenessOf(requests)
  return { lateness: spreadOf(before, after), answerMs: spread(answers), ...(answered instanceof Event ? {} : { answered }) }
}

async function timed(requests: Requests, path: string): Promise<{ ms: number; status: string }> {
  const beganMs = performance.now()
  const status = await requests.send('GET', path)
  return { ms: Math.round(performance.now() - beganMs), status }
}

const spread = (values: number[]): Record<string, number> => {
  const sorted = values.toSorted((left, right) => left - right)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}

/** Records that the auditor and the history have not read. */
async function behind({ url }: Requests): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = [...text.matchAll(/^duelog_(?:audit|history)_behind_records(?:\{.*?\})? (\d+)$/gm)].map(([, count]) =>
    Number(count),
  )
  return Math.max(...counts)
}

/** Counts by upper bound in ms, of all processes. */
async function latenessOf({ url }: Requests): Promise<Map<number, number>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = new Map<number, number>()
  for (const [, bound, count] of text.matchAll(/^duelog_reported_lateness_seconds_bucket\{.*?le="([^"]+)".*?\} (\d+)$/gm)) {
    const ms = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound) * 1_000
    counts.set(ms, (counts.get(ms) ?? 0) + Number(count))
  }
  return counts
}

/** Upper bounds of the classes, each 25 % wide, that hold the percentiles. */
function spreadOf(before: Map<number, number>, after: Map<number, number>): Record<string, number> {
  const bounds = [...after.keys()].sort((left, right) => left - right)
  const counts = bounds.map((bound) => (after.get(bound) ?? 0) - (before.get(bound) ?? 0))
  const starts = counts.at(-1) ?? 0
  const at = (share: number): number => bounds[counts.findIndex((count) => count >= share * starts)] ?? 0
  return { starts, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
}
