/** Records, log lines, limits and pools of a test system. */
import { expect, it } from 'vitest'
import type { Run } from '../../src/clients/library/index.ts'
import { testSystem } from '../../src/testing/library.ts'
import { gathered } from '../tools/gathered.ts'

const soon = { delayMs: 1_000 }
const applied = { wait: 'applied' } as const

it('shows the records of topic targets and of the handler kafka.produce, at their times', async () => {
  const duelog = testSystem({ handlers: {} })
  const topic = { name: 'orders', key: 'customer-7' }
  await duelog.schedule({ id: 'a', schedule: soon, target: { topic }, payload: { n: 1 }, headers: { trace: 'x' } })
  await duelog.schedule({
    id: 'b',
    schedule: { delayMs: 2_000 },
    target: { handler: 'kafka.produce' },
    payload: { topic: 'orders', key: 'k', value: 'plain' },
  })
  await duelog.advanceBy(999)
  expect(await duelog.records('orders')).toEqual([])
  await duelog.advanceBy(1_001)
  expect(await duelog.records('orders')).toMatchObject([
    { key: 'customer-7', value: { n: 1 }, headers: { trace: 'x' }, at: '2027-01-01T00:00:01.000Z' },
    { key: 'k', value: 'plain', at: '2027-01-01T00:00:02.000Z' },
  ])
  expect(await duelog.run('a', 1)).toMatchObject({ status: 'SUCCEEDED' })
})

it('refuses topics that it was not given', async () => {
  const duelog = testSystem({ handlers: {}, topics: ['orders'] })
  const scheduled = await duelog.schedule({ id: 'a', schedule: soon, target: { topic: { name: 'order' } } }, applied)
  expect(scheduled).toMatchObject({ status: 'INVALID', reason: expect.stringContaining('order') })
  const ofDuelog = { id: 'a', schedule: soon, target: { topic: { name: 'duelog.jobs' } } }
  const own = await testSystem({ handlers: {} }).schedule(ofDuelog, applied)
  expect(own).toMatchObject({ status: 'INVALID' })
})

it('shows the lines that handlers wrote to their log', async () => {
  const duelog = testSystem({
    handlers: {
      print: ({ attempt, log }: Run) => {
        log('info', `attempt ${attempt}`, { pages: 3 })
        if (attempt === 1) throw new Error('paper jam')
        log('warn', 'late')
      },
    },
  })
  await duelog.schedule({ id: 'a', schedule: soon, target: { handler: 'print' } })
  await duelog.advanceBy(60_000)
  expect(await gathered(duelog.logs('a', 1))).toMatchObject([
    { attempt: 1, at: '2027-01-01T00:00:01.000Z', level: 'info', text: 'attempt 1', fields: { pages: 3 } },
    { attempt: 2, at: '2027-01-01T00:00:02.000Z', level: 'info', text: 'attempt 2', fields: { pages: 3 } },
    { attempt: 2, at: '2027-01-01T00:00:02.000Z', level: 'warn', text: 'late', fields: null },
  ])
  await expect(gathered(duelog.logs('a', 2))).rejects.toMatchObject({ code: 'not-found' })
})

it('makes no request for an http target, but asks a handler named http', async () => {
  const target = { http: { url: 'https://api.example.org/hook', method: 'POST' as const } }
  const plain = testSystem({ handlers: {} })
  await plain.schedule({ id: 'a', schedule: soon, target })
  await plain.advanceBy(1_000)
  expect((await plain.run('a', 1))?.errors).toMatchObject([{ message: expect.stringContaining('Give it a handler named http') }])
  const answered = testSystem({ handlers: { http: ({ http }: Run) => http?.url } })
  await answered.schedule({ id: 'a', schedule: soon, target })
  await answered.advanceBy(1_000)
  expect(await answered.run('a', 1)).toMatchObject({ status: 'SUCCEEDED', result: target.http.url })
})

it('keeps to the limits that jobs share', async () => {
  let running = 0
  let most = 0
  const duelog = testSystem({
    handlers: ({ sleep }) => ({
      call: async () => {
        most = Math.max(most, ++running)
        await sleep(10_000)
        running--
      },
    }),
  })
  for (let at = 0; at < 6; at++)
    await duelog.schedule({
      id: `call-${at}{customer-7}`,
      schedule: soon,
      target: { handler: 'call' },
      concurrencyKey: 'customer-7',
      concurrencyLimit: 2,
    })
  await duelog.advanceBy(1_000)
  let active = 0
  for await (const job of duelog.list({ active: true })) active += job.active.length
  expect(active).toBe(6)
  await duelog.advanceBy(30_000)
  expect(most).toBe(2)
  for await (const job of duelog.list()) expect(job).toMatchObject({ status: 'COMPLETED', succeeded: 1 })
})

it('starts a pinned run within seconds of the coming of its worker, however long that was away, without copies meanwhile', async () => {
  const duelog = testSystem({ handlers: { where: () => 'here' } })
  for (const id of ['first', 'second']) {
    await duelog.schedule({ id, schedule: soon, target: { handler: 'where' }, pinTo: 'special' })
    await duelog.advanceBy(10 * 3_600_000)
    expect(await duelog.run(id, 1)).toMatchObject({ status: 'DISPATCHED' })
    const copies = (await duelog.records('duelog.worker-control')).filter(({ key }) => key === id)
    expect(copies.length).toBeLessThanOrEqual(2)
    const name = await duelog.startWorker({ name: 'special' })
    await duelog.advanceBy(10_000)
    expect(await duelog.run(id, 1)).toMatchObject({ status: 'SUCCEEDED', worker: name, attempts: 1 })
    await duelog.stopWorker('special')
  }
})

it('has a worker for each pool, and names that jobs can be pinned to', async () => {
  const duelog = testSystem({ handlers: { where: () => 'here' }, pools: ['default', 'reports'] })
  const host = await duelog.startWorker({ name: 'special' })
  await duelog.schedule({ id: 'a', schedule: soon, target: { handler: 'where', pool: 'reports' } })
  await duelog.schedule({ id: 'b', schedule: soon, target: { handler: 'where' }, pinTo: 'special' })
  await duelog.advanceBy(1_000)
  const workers = await duelog.workers()
  expect(workers.flatMap(({ pools }) => pools.map(({ pool }) => pool)).toSorted()).toEqual(['default', 'default', 'reports'])
  expect(await duelog.run('a', 1)).toMatchObject({
    status: 'SUCCEEDED',
    worker: workers.find(({ pools }) => pools[0]?.pool === 'reports')?.instance,
  })
  expect(await duelog.run('b', 1)).toMatchObject({ status: 'SUCCEEDED', worker: host })
  await expect(duelog.startWorker({ pool: 'report' })).rejects.toThrow('There is no pool "report"')
})
