/** Faults of the load: bursts, floods of retries, handlers that block the event loop, records that nobody can read. */
import { type JobAndLine, onceAt, sendJobs, writeRaw } from '../load/definitions.ts'
import { last, type Stage, untilOnTime } from '../stage.ts'
import { targetTopic, topicPrefix } from '../system/duelog.ts'
import { countedByOwners, hasStarted, proven } from './effects.ts'
import type { Fault } from './fault.ts'

const settleMsMax = 240_000
/** Jobs that a fault sends are due this long after. */
const noticeMs = 15_000
/** The counter of records that owners pass over. Most records of \`poison\` count there; some are valid by chance. */
const invalid = 'duelog_invalid_total'
const poisonLeast = 4_000

/** Ids of one fault of one drill. A drill may run a fault twice. */
const ids = (stage: Stage, name: string): ((index: number) => string) => {
  const mark = Math.floor(stage.random() * 0xffffff).toString(16)
  return (index) => `${name}-${mark}-${index}`
}

/** Sends jobs that are due at one time, and waits until that time is over. */
async function dueAtOnce(stage: Stage, count: number, make: (index: number, at: number) => JobAndLine): Promise<void> {
  const at = Date.now() + noticeMs + Math.ceil(count / 2)
  await sendJobs(
    stage.place,
    Array.from({ length: count }, (_, index) => make(index, at)),
  )
  await last(stage, Math.max(0, at - Date.now()) + 2_000)
}

export const burst: Fault = {
  name: 'burst',
  what: 'jobs of 40 s of the usual rate (20,000 at 500 a second) are due at one instant, half of them to a topic, half for workers',
  async run(stage) {
    const id = ids(stage, 'burst')
    await dueAtOnce(stage, 40 * stage.rate, (index, at) =>
      onceAt(id(index), at, index % 2 === 0 ? { topic: { name: targetTopic } } : { handler: 'chaos-tick' }),
    )
  },
}

export const retryFlood: Fault = {
  name: 'retry-flood',
  what: 'jobs of 10 s of the usual rate (5,000 at 500 a second) are due at one instant, and each attempt of three fails',
  async run(stage) {
    const id = ids(stage, 'flood')
    const retry = { maxAttempts: 3, backoff: { list: [1_000] } }
    await dueAtOnce(stage, 10 * stage.rate, (index, at) => onceAt(id(index), at, { handler: 'chaos-fail' }, { retry }))
    await untilOnTime(stage, settleMsMax)
  },
}

export const blockedWorker: Fault = {
  name: 'blocked-worker',
  what: 'a handler blocks the event loop of its worker for 40 s, longer than leases and the session',
  async run(stage) {
    const id = ids(stage, 'block')
    await dueAtOnce(stage, 1, (index, at) =>
      onceAt(id(index), at, { handler: 'chaos-block' }, { payload: { ms: 40_000 }, leaseMs: 5_000 }),
    )
    await proven(stage, 'the handler that blocks was not started', 60_000, () => hasStarted(stage, id(0)))
    await last(stage, 40_000)
  },
}

export const poison: Fault = {
  name: 'poison',
  what: '2,000 records that nobody can read on each input of the owners: random bytes of up to 200 kB, foreign schema ids, ids that are no UTF-8, empty ones',
  async run(stage) {
    // From the seed, as all random values of a drill, so the drill can be repeated.
    const bytes = (most: number): Buffer =>
      Buffer.from(Array.from({ length: 1 + Math.floor(stage.random() * most) }, () => Math.floor(stage.random() * 256)))
    /** The broker refuses a record without a key in a compacted topic. */
    const record = (index: number, isCompacted: boolean): { key: Buffer | null; value: Buffer | null } => {
      const key =
        index % 7 === 0 && !isCompacted
          ? null
          : index % 5 === 0
            ? Buffer.from([0xff, 0xfe, index % 256])
            : Buffer.from(`poison-${index}`)
      const framed = Buffer.concat([Buffer.from([0, 0, 0, 0, index % 9]), bytes(200)])
      const value =
        index % 3 === 0 ? framed : index % 100 === 1 ? bytes(200_000) : index % 11 === 0 ? Buffer.alloc(0) : bytes(300)
      return { key, value }
    }
    const before = await countedByOwners(stage, invalid)
    for (const topic of ['jobs', 'job-commands', 'execution-events'])
      await writeRaw(
        stage.place,
        topicPrefix + topic,
        Array.from({ length: 2_000 }, (_, index) => record(index, topic === 'jobs')),
      )
    const missing = `owners have not counted ${poisonLeast} records that cannot be read`
    await proven(stage, missing, settleMsMax, async () => (await countedByOwners(stage, invalid)) - before >= poisonLeast)
  },
}
