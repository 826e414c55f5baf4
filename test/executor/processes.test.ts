/** The child processes of a whole Duelog, on a real broker: the front and the executor processes. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openSite, type Site } from '../faults/harness.ts'
import { freePorts } from '../setup/free-ports.ts'
import { job, up } from './up.ts'

const lives = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Resolves with the pid of the process that reported this for the job. */
async function worker({ checker }: Site, jobId: string, type: 'STARTED' | 'SUCCEEDED'): Promise<number> {
  const found = () => checker.events.find((event) => event.jobId === jobId && event.type === type)?.worker
  await expect.poll(found, { timeout: 60_000 }).toBeDefined()
  return Number(found()?.split(':')[1])
}

test('handlers run in processes of their own; a killed one is replaced; all end with their parent, also by kill −9', async (context) => {
  const site = await openSite(context)
  const parent = await up(context, site, 1)
  await site.client.schedule(job('first', 'pid'))
  const first = await worker(site, 'first', 'SUCCEEDED')
  expect(first).not.toBe(parent.pid)
  process.kill(first, 'SIGKILL')
  await site.client.schedule(job('second', 'pid'))
  const second = await worker(site, 'second', 'SUCCEEDED')
  expect(second).not.toBe(first)
  parent.kill('SIGKILL')
  await expect.poll(() => lives(second), { timeout: 30_000 }).toBe(false)
})

test('their metrics are part of those of their parent, also after a kill', async (context) => {
  const site = await openSite(context)
  const [port] = await freePorts()
  await up(context, site, 2, port)
  const shown = async (): Promise<string> =>
    fetch(`http://127.0.0.1:${port}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    )
  // An attempt whose report a rebalance prevented is made and counted again, so the total is not known beforehand.
  const counts = [0]
  const attempts = async (): Promise<number> => {
    const shownNow = /^duelog_attempts_total\{pool="default",outcome="succeeded"\} (\d+)$/m.exec(await shown())
    if (shownNow) counts.push(Number(shownNow[1]))
    return counts.at(-1) ?? 0
  }
  for (let n = 0; n < 20; n++) await site.client.schedule(job(`m-${n}`, 'pid'))
  for (let n = 0; n < 20; n++) await worker(site, `m-${n}`, 'SUCCEEDED')
  await expect.poll(attempts, { timeout: 60_000 }).toBeGreaterThanOrEqual(20)
  const rss = /^process_resident_memory_bytes\{process="executor-[12]"\}/gm
  await expect.poll(async () => (await shown()).match(rss)?.length, { timeout: 60_000 }).toBe(2)
  const before = await attempts()
  process.kill(await worker(site, 'm-0', 'SUCCEEDED'), 'SIGKILL')
  await site.client.schedule(job('after', 'pid'))
  await worker(site, 'after', 'SUCCEEDED')
  await expect.poll(attempts, { timeout: 60_000 }).toBeGreaterThan(before)
  expect(counts).toEqual(counts.toSorted((a, b) => a - b))
})

test('the front is a process of its own: while it hangs or is gone, the scheduler fires; it comes back at its address', async (context) => {
  const site = await openSite(context)
  const [port] = await freePorts()
  const parent = await up(context, site, 1, port)
  const url = `http://127.0.0.1:${port}`
  const ask = async <Answer>(path: string): Promise<Answer | undefined> =>
    fetch(`${url}${path}`).then(
      async (answer) => (answer.ok ? ((await answer.json()) as Answer) : undefined),
      () => undefined,
    )
  const residents = async (): Promise<Map<string, number>> => {
    const shown = await fetch(`${url}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    )
    const found = shown.matchAll(/^process_resident_memory_bytes(?:\{process="([^"]+)"\})? (\d+)/gm)
    return new Map([...found].map(([, name = 'front', value]) => [name, Number(value)]))
  }
  await expect.poll(() => ask('/readyz'), { timeout: 60_000 }).toEqual({ status: 'ok' })
  // One address shows the metrics of all.
  await expect
    .poll(async () => [...(await residents()).keys()].sort(), { timeout: 60_000 })
    .toEqual(['executor-1', 'front', 'scheduler'])
  const frontOf = () => readFile(join(site.folder, 'up', 'front', 'pid'), 'utf8').then(Number, () => 0)
  const front = await frontOf()
  expect(front).not.toBe(parent.pid)
  process.kill(front, 'SIGSTOP')
  await site.client.schedule(job('while-it-hangs', 'pid'))
  await worker(site, 'while-it-hangs', 'SUCCEEDED')
  process.kill(front, 'SIGKILL')
  await site.client.schedule(job('while-it-is-gone', 'pid'))
  await worker(site, 'while-it-is-gone', 'SUCCEEDED')
  await expect.poll(() => ask('/readyz'), { timeout: 60_000 }).toEqual({ status: 'ok' })
  expect(await ask('/v1/jobs/while-it-is-gone')).toMatchObject({ status: 'COMPLETED' })
  const next = await frontOf()
  expect(next).not.toBe(front)
  parent.kill('SIGKILL')
  await expect.poll(() => lives(next), { timeout: 30_000 }).toBe(false)
})

test('a port that is taken ends the start with a sentence', async (context) => {
  const site = await openSite(context)
  const taken = createServer().listen(0, '127.0.0.1')
  context.onTestFinished(() => void taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const parent = await up(context, site, 1, port, {}, 'pipe')
  const said = text(parent.stderr as Readable)
  expect(await once(parent, 'exit')).toEqual([1, null])
  expect(await said).toContain(`The HTTP server cannot listen on 127.0.0.1:${port}`)
})

test('SIGTERM to the parent drains them: running handlers finish', async (context) => {
  const site = await openSite(context)
  const parent = await up(context, site, 2)
  await site.client.schedule(job('slow', 'slow'))
  const pid = await worker(site, 'slow', 'STARTED')
  parent.kill('SIGTERM')
  expect(await once(parent, 'exit')).toEqual([0, null])
  expect(lives(pid)).toBe(false)
  expect(await worker(site, 'slow', 'SUCCEEDED')).toBe(pid)
  expect(site.checker.executions).toHaveLength(1)
})

test('their number follows the load: up while runs wait, and down after the cool-down; every run ends once', async (context) => {
  const site = await openSite(context)
  const [port] = await freePorts()
  const settings = { DUELOG_CONCURRENCY: '2', DUELOG_EXECUTOR_COOL_DOWN_MS: '1000' }
  const parent = await up(context, site, '1..2', port, settings)
  const shown = async (name: string): Promise<number> => {
    const text = await fetch(`http://127.0.0.1:${port}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    )
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`duelog_${name} `))
        ?.slice(name.length + 8) ?? Number.NaN,
    )
  }
  const running = 'executor_processes{state="running"}'
  await expect.poll(() => shown(running), { timeout: 60_000 }).toBe(1)
  const ids: string[] = []
  const ends = () => site.checker.events.filter(({ type, jobId }) => type === 'SUCCEEDED' && jobId.startsWith('load-'))
  const workers = () => new Set(ends().map((event) => Number(event.worker?.split(':')[1])))
  // 20 runs of 1.5 s want many workers of 2 slots; this machine may have 2 processes. The second one may need long to start.
  const load = async (): Promise<number> => {
    const more = Array.from({ length: 20 - (ids.length - ends().length) }, (_, index) => `load-${ids.length + index}`)
    ids.push(...more)
    await site.client.scheduleMany(more.map((id) => job(id, 'slow')))
    return workers().size
  }
  // Its topics have two partitions, so that a third worker would have nothing to do. The load goes on while a process starts:
  // without it, the second one would end again.
  const wanted = 'pool_workers_wanted{pool="default"}'
  const state = async () => ({ workers: await load(), wanted: await shown(wanted), running: await shown(running) })
  await expect.poll(state, { timeout: 90_000 }).toEqual({ workers: 2, wanted: 2, running: 2 })
  // The API and the dashboard know it by what the processes announce to their group.
  const told = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/workers`)
    return ((await answer.json()) as { executors: object[] }).executors
  }
  const limits = { min: 1, max: 2, coolDownMs: 1_000, pools: ['default'], pid: parent.pid }
  const toldUnderLoad = () => load().then(told)
  await expect
    .poll(toldUnderLoad, { timeout: 60_000 })
    .toMatchObject([{ ...limits, running: 2, wanted: 2, reasonPool: 'default' }])
  for (const id of ids) await worker(site, id, 'SUCCEEDED')
  const pids = workers()
  await expect.poll(() => shown('executor_processes_wanted'), { timeout: 60_000 }).toBe(1)
  await expect.poll(() => shown(running), { timeout: 60_000 }).toBe(1)
  await expect.poll(() => shown('executor_processes{state="stopping"}'), { timeout: 60_000 }).toBe(0)
  expect([...pids].filter(lives)).toHaveLength(1)
  await expect.poll(told, { timeout: 60_000 }).toMatchObject([{ ...limits, running: 1, wanted: 1, reason: 'cool-down' }])
  // A machine whose processors are taken may find the second process of no use for a while.
  const ups = await shown('executor_process_changes_total{direction="up"}')
  expect(ups).toBeGreaterThanOrEqual(1)
  expect(await shown('executor_process_changes_total{direction="down"}')).toBe(ups)
  // The pool without a load needs none, although one process stays.
  await expect.poll(() => shown('pool_workers_wanted{pool="default"}'), { timeout: 60_000 }).toBe(0)
  expect(ends()).toHaveLength(ids.length)
  // A worker gives back what it may not start any more when a partition moves (hand-back.ts). No other run is sent again.
  const again = site.checker.executions.filter(({ attempt }) => attempt > 1)
  const released = site.checker.events.filter(({ type }) => type === 'RELEASED')
  expect(again.map(({ jobId, attempt }) => [jobId, attempt]).sort()).toEqual(
    released.map(({ jobId, attempt }) => [jobId, attempt + 1]).sort(),
  )
  parent.kill('SIGTERM')
  expect(await once(parent, 'exit')).toEqual([0, null])
  expect([...pids].filter(lives)).toEqual([])
})
