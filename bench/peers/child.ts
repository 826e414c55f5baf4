/**
 * One process of a system under comparison: its producer or its worker, by IPC. A job's id says when it is due: `job-<µs>-<number>`,
 * in µs since the epoch. Both processes read the time of the day once and count on by the steady clock.
 */
import { openLoop } from '../tools/open-loop.ts'
import { type Spread, Timings } from '../tools/timings.ts'
import { type SystemName, systems } from './systems/all.ts'
import type { PeerJob, Place, Producer } from './systems/system.ts'

export interface Rate extends Spread {
  count: number
  tookMs: number
}

export interface Starts extends Spread {
  starts: number
  distinct: number
  duplicates: number
  early: number
  warm: number
  lastMs: number
}

/** What the driver asks for, and the answers. Latencies are in ms. */
export interface Calls {
  /** Jobs for tomorrow, as many as possible at once. */
  bulk(n: number): Promise<{ tookMs: number; cpuMs: number }>
  /** The same with single jobs for `ms`: each of `callers` waits for one after the other. */
  single(callers: number, ms: number): Promise<Rate>
  /** Jobs due at random times of `overMs` from `fromMs` on; `overMs` 0: all at `fromMs`. */
  timed(n: number, fromMs: number, overMs: number): Promise<void>
  /** Jobs that are due when they are sent, one by one at a rate (open loop). */
  now(name: string, n: number, perSecond: number): Promise<void>
  count(): Promise<number>
  starts(): Promise<Starts>
  close(): Promise<void>
}

const payload = 'x'.repeat(200)
const dayMs = 86_400_000
/** The clocks of two processes differ by less than this. */
const clockUs = 1_000

const nowUs = (): number => Math.round((performance.timeOrigin + performance.now()) * 1_000)
function producing(producer: Producer): Partial<Calls> {
  let written = 0
  const job = (dueAtMs: number): PeerJob => ({ id: `job-${dueAtMs * 1_000}-${written++}`, dueAtMs, payload })
  function* later(n: number): Generator<PeerJob> {
    const at = Date.now() + dayMs
    for (let index = 0; index < n; index++) yield job(at + index)
  }
  return {
    async bulk(n) {
      const cpu = process.cpuUsage()
      const beganMs = performance.now()
      await producer.scheduleMany(later(n))
      const { user, system } = process.cpuUsage(cpu)
      return { tookMs: performance.now() - beganMs, cpuMs: (user + system) / 1_000 }
    },
    async single(callers, ms) {
      const timings = new Timings()
      const beganMs = performance.now()
      const call = async (): Promise<void> => {
        for (;;) {
          const sentMs = performance.now()
          if (sentMs - beganMs >= ms) return
          await producer.schedule(job(Date.now() + dayMs))
          timings.record(performance.now() - sentMs)
        }
      }
      await Promise.all(Array.from({ length: callers }, call))
      return { count: timings.count, tookMs: performance.now() - beganMs, ...timings.spread }
    },
    async timed(n, fromMs, overMs) {
      const all = Array.from({ length: n }, () => job(fromMs + Math.floor(Math.random() * overMs)))
      await producer.scheduleMany(all)
    },
    now: (name, n, perSecond) =>
      openLoop(n, perSecond, (index) => producer.schedule({ id: `${name}-${nowUs()}-${index}`, dueAtMs: null, payload })),
    count: () => producer.count(),
    close: () => producer.close(),
  }
}

function counting(): { onStart(id: string): void; starts(): Promise<Starts> } {
  const seen = new Map<string, number>()
  const lateness = new Timings()
  let [early, warm, lastUs] = [0, 0, 0]
  return {
    onStart(id) {
      const atUs = nowUs()
      const [name, dueUs] = id.split('-')
      if (name === 'warm') {
        warm++
        return
      }
      const times = seen.get(id) ?? 0
      seen.set(id, times + 1)
      if (times > 0) return
      const lateUs = atUs - Number(dueUs)
      if (lateUs < -clockUs) early++
      lateness.record(lateUs / 1_000)
      lastUs = Math.max(lastUs, atUs)
    },
    async starts() {
      let duplicates = 0
      for (const times of seen.values()) duplicates += times - 1
      const starts = seen.size + duplicates
      return { starts, distinct: seen.size, duplicates, early, warm, lastMs: lastUs / 1_000, ...lateness.spread }
    },
  }
}

async function callsOf(role: string, name: SystemName, place: Place): Promise<Partial<Calls>> {
  const { system } = systems[name]
  if (role === 'producer') return producing(await system.produce(place))
  if (!('work' in system) || system.work === undefined) throw new Error(`${name} has no worker.`)
  const { onStart, starts } = counting()
  const worker = await system.work(place, onStart)
  return { starts, close: () => worker.close() }
}

const [role = '', name = '', place = '{}'] = process.argv.slice(2)
const calls = await callsOf(role, name as SystemName, JSON.parse(place))
process.on('message', ({ call, args }: { call: keyof Calls; args: never[] }) => {
  const task = calls[call] as undefined | ((...given: never[]) => Promise<unknown>)
  void Promise.resolve(task?.(...args)).then(
    (result) => process.send?.({ result }),
    (error: Error) => process.send?.({ error: error.stack ?? String(error) }),
  )
})
// The driver has ended: this process must not outlive it.
process.on('disconnect', () => process.exit(0))
process.send?.({ result: 'ready' })
