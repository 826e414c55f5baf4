/** When the process of the embedded registry begins and ends. The process is a stand-in; start.test.ts has a real one. */
import { expect, it } from 'vitest'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { GuardedProcess } from '../../src/program/embedded/guarded-process.ts'
import { OnDemandRegistry } from '../../src/program/embedded/on-demand-registry.ts'

const place = { host: '127.1.2.3', port: 1 }

/** A process that ends when it is told to, or by `die`. `stopping` resolves with the first request to end. */
function standIn() {
  const exit = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let stopping = false
  const process: GuardedProcess = {
    exited: exit.promise,
    get stopping() {
      return stopping
    },
    line: async () => {},
    failure: (how) => new DuelogError('embedded-failed', `It ${how}.`),
    async stop() {
      stopping = true
      asked.resolve()
      await released.promise
      exit.resolve()
    },
  }
  return { process, die: exit.resolve, stopping: asked.promise, end: released.resolve, isStopping: () => stopping }
}

/** A registry whose starts the test answers, one after the other. `isSlow`: a start has no process before `spawn`. */
function registry({ isSlow = false, ...limits }: { idleMs?: number; againMs?: number; isSlow?: boolean } = {}) {
  const starts: { child: ReturnType<typeof standIn>; spawn(): void; up(): void; fail(error: Error): void }[] = []
  const lines: string[] = []
  const log = (fields: { event: string }) => void lines.push(fields.event)
  let onStart = (): void => {}
  const onDemand = new OnDemandRegistry({
    ...{ dataDir: '/data', logger: { info: log, warn: log, error: log } as never, ...limits },
    start: (tell) => {
      const answer = Promise.withResolvers<typeof place>()
      const child = standIn()
      if (!isSlow) tell(child.process)
      starts.push({ child, spawn: () => tell(child.process), up: () => answer.resolve(place), fail: answer.reject })
      onStart()
      return answer.promise
    },
  })
  /** The start of this number, from 1. */
  const started = async (times: number) => {
    while (starts.length < times)
      await new Promise<void>((resolve) => {
        onStart = resolve
      })
    return starts[times - 1] as (typeof starts)[number]
  }
  return { onDemand, starts, started, lines }
}

it('starts once for all who come first, and ends when the last of them has gone', async () => {
  const { onDemand, starts, started, lines } = registry({ idleMs: 0 })
  const users = [onDemand.acquire(), onDemand.acquire(), onDemand.acquire()]
  const { child, up } = await started(1)
  up()
  expect(await Promise.all(users)).toEqual([place, place, place])
  onDemand.release()
  onDemand.release()
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(child.isStopping()).toBe(false)
  onDemand.release()
  await child.stopping
  // Who comes now waits until that one has ended: two would use one storage.
  const late = onDemand.acquire()
  await new Promise(setImmediate)
  expect(starts).toHaveLength(1)
  child.end()
  ;(await started(2)).up()
  expect(await late).toBe(place)
  expect(lines).toEqual(['embedded-registry-up', 'embedded-registry-asleep', 'embedded-registry-up'])
})

it('stays without a limit', async () => {
  const { onDemand, started } = registry()
  const start = onDemand.start()
  const { child, up } = await started(1)
  up()
  await start
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(child.isStopping()).toBe(false)
})

it('a user who comes before the limit keeps it', async () => {
  const { onDemand, started } = registry({ idleMs: 0 })
  const start = onDemand.start()
  const { child, up } = await started(1)
  up()
  await start
  await onDemand.acquire()
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(child.isStopping()).toBe(false)
})

it('tells a failed start to all who wait, and for a while to who comes then; nothing of it is left', async () => {
  const { onDemand, starts, started, lines } = registry({ againMs: 0 })
  const users = [onDemand.acquire(), onDemand.acquire()].map((user) => user.catch((error: Error) => error.message))
  const { child, fail } = await started(1)
  fail(new DuelogError('embedded-failed', 'There is no Java.'))
  await child.stopping
  const during = onDemand.acquire().catch((error: Error) => error.message)
  child.end()
  expect(await Promise.all([...users, during])).toEqual(['There is no Java.', 'There is no Java.', 'There is no Java.'])
  expect(await onDemand.acquire().catch((error: Error) => error.message)).toBe('There is no Java.')
  expect(starts).toHaveLength(1)
  await new Promise((resolve) => setTimeout(resolve, 0))
  const again = onDemand.acquire()
  ;(await started(2)).up()
  expect(await again).toBe(place)
  expect(lines).toEqual(['embedded-registry-failed', 'embedded-registry-up'])
})

it('is started again by the next user when it has ended by itself', async () => {
  const { onDemand, starts, started, lines } = registry({ idleMs: 0 })
  const first = onDemand.acquire()
  const { child, up } = await started(1)
  up()
  await first
  child.die()
  await child.stopping
  // Where only its guard has died, the program goes on until it is stopped.
  const next = onDemand.acquire()
  await new Promise(setImmediate)
  expect(starts).toHaveLength(1)
  child.end()
  ;(await started(2)).up()
  expect(await next).toBe(place)
  expect(lines).toEqual(['embedded-registry-up', 'embedded-registry-failed', 'embedded-registry-up'])
})

it('a stop ends one that starts, tells its users, and starts none later', async () => {
  const { onDemand, starts, started, lines } = registry({ idleMs: 0 })
  const user = onDemand.acquire().catch((error: Error) => error.message)
  const { child, fail } = await started(1)
  const stopped = onDemand.stop()
  await child.stopping
  child.end()
  fail(child.process.failure('ended while it was starting'))
  await stopped
  expect(await user).toBe('It ended while it was starting.')
  await expect(onDemand.acquire()).rejects.toThrow()
  onDemand.release()
  onDemand.release()
  await onDemand.stop()
  expect([starts.length, lines]).toEqual([1, []])
})

it('starts none after a stop', async () => {
  const { onDemand, starts } = registry()
  await onDemand.stop()
  await expect(onDemand.acquire()).rejects.toThrow('was stopped before it started')
  expect(starts).toEqual([])
})

it('a stop waits for one that ends', async () => {
  const { onDemand, started } = registry({ idleMs: 0 })
  const start = onDemand.start()
  const { child, up } = await started(1)
  up()
  await start
  await child.stopping
  let isStopped = false
  const stopped = onDemand.stop().then(() => {
    isStopped = true
  })
  await new Promise(setImmediate)
  expect(isStopped).toBe(false)
  child.end()
  await stopped
})

it('a stop waits for a start that nobody wants any more', async () => {
  const { onDemand, started } = registry({ idleMs: 0, isSlow: true })
  const user = onDemand.acquire().catch((error: Error) => error.message)
  const { child, spawn, fail } = await started(1)
  onDemand.release()
  await new Promise((resolve) => setTimeout(resolve, 0))
  let isStopped = false
  const stopped = onDemand.stop().then(() => {
    isStopped = true
  })
  await new Promise(setImmediate)
  expect(isStopped).toBe(false)
  spawn()
  await child.stopping
  child.end()
  fail(child.process.failure('ended while it was starting'))
  await stopped
  expect(await user).toBe('It ended while it was starting.')
})
