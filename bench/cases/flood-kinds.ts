/** The floods. Each is a case of its own: `npm run bench -- flood-keys`. */
import { setTimeout as wait } from 'node:timers/promises'
import { benchJob } from '../tools/bed.ts'
import { dearRule } from '../tools/floods/dear-rules.ts'
import { type Flood, type FloodContext, floodCase } from './floods.ts'

const soonMs = 2_000
const lookMs = 1_000
const hourMs = 3_600_000
/** Requests that are in-flight at a time. */
const sideBySide = 64

/** Writes the jobs of the flood. They are due soon after. */
async function schedule({ client, n }: FloodContext, idOf: (index: number) => string, more: object): Promise<void> {
  const at = Date.now() + soonMs
  const jobs = function* () {
    for (let index = 0; index < n; index++) yield { ...benchJob(idOf(index), at, 100), ...more }
  }
  await client.scheduleMany(jobs())
}

/** Resolves when `count` runs of the flood have started, or the flood is over. */
async function started({ process, signal }: FloodContext, count: number): Promise<Record<string, unknown>> {
  for (;;) {
    const { timedStarts } = await process.report()
    if (timedStarts >= count || signal.aborted) return { started: timedStarts }
    await wait(lookMs)
  }
}

/** Jobs that share ten slots of one key: the end of each run starts the next one. */
const keys: Flood = {
  n: 10_000,
  async run(context) {
    await schedule(context, (index) => `{one}-${index}`, { concurrencyKey: 'one', concurrencyLimit: 10 })
    return started(context, context.n)
  },
}

/** Jobs that wait for a rateLimit with few starts left. */
const rates: Flood = {
  n: 100_000,
  async run(context) {
    const rateLimit = { key: 'one', limit: 10_000, perMs: hourMs }
    await schedule(context, (index) => `{one}-${index}`, { rateLimit, startDeadlineMs: 24 * hourMs })
    return started(context, 10_000)
  },
}

/** One backfill of a million occurrences of one job, with as many active runs as the job may have. */
const backfill: Flood = {
  n: 1_000_000,
  async prepare({ client }) {
    const schedule = { everyMs: 1_000, anchor: 0 }
    await client.schedule({ ...benchJob('backfilled', 0, 100), schedule, startAt: 0, maxConcurrentRuns: 100 })
  },
  async run(context) {
    const to = Date.now()
    const from = to - context.n * 1_000
    const answer = await context.requests.send('POST', '/v1/jobs/backfilled/backfill', { from, to })
    return { answer, ...(await started(context, context.n)) }
  },
}

/** Runs that fail and are retried ten times a second. */
const retries: Flood = {
  n: 1_000,
  async run(context) {
    const retry = { maxAttempts: 1_000, backoff: { fixed: { delayMs: 100 } } }
    await schedule(context, (index) => `failing-${index}`, { target: { handler: 'fail' }, retry })
    return started(context, Number.POSITIVE_INFINITY)
  },
}

/** Commands by HTTP, as many as the API accepts. */
const triggers: Flood = {
  n: 200,
  async prepare(context) {
    const far = { schedule: { at: Date.now() + 24 * hourMs }, maxConcurrentRuns: 100 }
    await schedule(context, (index) => `triggered-${index}`, far)
  },
  async run({ requests, n, signal }) {
    return {
      answers: await requests.flood(sideBySide, signal, (index) =>
        requests.send('POST', `/v1/jobs/triggered-${index % n}/trigger`, {}),
      ),
    }
  },
}

/** Sockets that send half a request, or that listen and read nothing. */
const sockets: Flood = {
  n: 1_500,
  async run({ requests, n, signal }) {
    const half = 'POST /v1/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{'
    const slow = 'GET /v1/jobs HTTP/1.1\r\nhost: loc'
    const listening = 'GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n'
    let closed = 0
    for (let index = 0; index < n; index++) requests.linger([half, slow, listening][index % 3] ?? '', signal, () => void closed++)
    const answers = await requests.flood(8, signal, () => requests.send('GET', '/v1/jobs?limit=10'))
    return { closed, answers }
  },
}

/** Searches through all jobs of all partitions that find nothing. */
const lists: Flood = {
  n: 20_000,
  async prepare({ client, n }) {
    const at = Date.now() + 24 * hourMs
    const jobs = function* () {
      for (let index = 0; index < n; index++) yield benchJob(`looked-${index}`, at, 100)
    }
    await client.scheduleMany(jobs())
  },
  async run({ requests, signal }) {
    const send = (): Promise<string> => requests.send('GET', '/v1/jobs?idPrefix=looked&handler=none')
    return { answers: await requests.flood(sideBySide, signal, send) }
  },
}

/**
 * The most expensive legal rules: PUT, plan, preview and forecast by HTTP, and definitions by Kafka. BENCH_RULES chooses some of
 * these.
 */
const rules: Flood = {
  n: 30,
  firesPerSecond: 1_000,
  async run({ client, requests, n, signal }) {
    const job = (name: string, index: number) => ({
      id: `${name}-${index}`,
      schedule: dearRule(index),
      target: { handler: 'bench' },
    })
    const byKafka = async (): Promise<number> => {
      let written = 0
      for (; !signal.aborted; written += n)
        await client.scheduleMany(Array.from({ length: n }, (_, index) => job('kafka', written + index)))
      return written
    }
    const ask = {
      put: (index: number) => {
        const { id, ...body } = job('put', index)
        return requests.send('PUT', `/v1/jobs/${id}`, body)
      },
      plan: (index: number) =>
        requests.send('POST', '/v1/jobs/plan', {
          jobs: Array.from({ length: n }, (_, place) => job('plan', index * n + place)),
          horizonMs: 3_650 * 24 * hourMs,
          maxFires: 1_000,
        }),
      preview: (index: number) => requests.send('POST', '/v1/schedules/preview', { schedule: dearRule(index), count: 1_000 }),
      forecast: () => requests.send('GET', `/v1/forecast?horizonMs=${3_650 * 24 * hourMs}`),
    }
    const isWanted = (part: string): boolean => process.env.BENCH_RULES?.split(',').includes(part) ?? true
    const asked = Object.entries(ask).map(([part, send]) => (isWanted(part) ? requests.flood(8, signal, send) : {}))
    const [written, ...answers] = await Promise.all([isWanted('kafka') ? byKafka() : 0, ...asked])
    const [put, plan, preview, forecast] = answers
    return { written, put, plan, preview, forecast }
  },
}

const floods = { keys, rates, backfill, retries, triggers, sockets, lists, rules }

export const floodCases = Object.fromEntries(
  Object.entries(floods).map(([name, flood]) => [`flood-${name}`, floodCase(flood)]),
) as Record<`flood-${keyof typeof floods}`, ReturnType<typeof floodCase>>
