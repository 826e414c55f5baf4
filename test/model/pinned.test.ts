/** How owners treat runs that are pinned to one worker, and which heartbeats they keep. */
import { expect, it } from 'vitest'
import type { Execution, JobDefinitionInput, WorkerControl } from '../../schemas/generated.ts'
import { Leases } from '../../src/scheduler/activity/activity.ts'
import { codecs, names, World } from './world.ts'

const job = (more: Partial<JobDefinitionInput> = {}): JobDefinitionInput => ({
  schedule: { at: 1_800_000_000_000 },
  target: { handler: 'noop', pool: 'default' },
  retry: { maxAttempts: 3, backoff: { list: [500] } },
  ...more,
})

const told = (world: World): { control: WorkerControl; execution: Execution }[] =>
  world.log(names.control).map(({ value }) => {
    const control = codecs.control.decode(value as Buffer) as WorkerControl
    return { control, execution: codecs.execution.decode(control.execution as Buffer) as Execution }
  })

const inPool = (world: World): number => world.executions().length - world.log(names.control).length

it('a pinned run is sent through worker-control with its execution, and not to its pool', async () => {
  const world = new World()
  world.define('a', job({ pinTo: 'gpu', priority: 'HIGH', payload: Buffer.from('x') }))
  await world.settle()
  expect(told(world)).toMatchObject([
    {
      control: { type: 'RUN', jobId: 'a', runNo: 1, attempt: 1, instance: 'gpu' },
      execution: { jobId: 'a', pinTo: 'gpu', priority: 'HIGH', handler: 'noop', pool: 'default' },
    },
  ])
  expect(world.log(names.control)[0]?.key?.toString()).toBe('a')
  expect(inPool(world)).toBe(0)
})

it('its next attempt is pinned too, also if the definition was replaced by one that is not', async () => {
  const world = new World()
  world.define('a', job({ pinTo: 'gpu' }))
  await world.settle()
  world.define('a', job())
  await world.settle()
  const [first] = world.executions()
  const { jobId, runNo, attempt, specOffset } = first as Execution
  const error = { type: 'Error', message: 'no' }
  world.report({ type: 'FAILED', jobId, runNo, attempt, specOffset, at: world.now, worker: 'gpu@h:1:b', error })
  await world.settle()
  world.now += 1_000
  await world.settle()
  expect(told(world).map(({ execution }) => [execution.attempt, execution.pinTo])).toEqual([
    [1, 'gpu'],
    [2, 'gpu'],
  ])
})

it('it is redelivered until it is started, and not after', async () => {
  const world = new World()
  world.define('a', job({ pinTo: 'gpu', leaseMs: 10_000 }))
  await world.settle()
  const tellings: number[] = []
  for (let second = 1; second <= 400; second++) {
    const before = told(world).length
    world.now += 1_000
    await world.settle()
    if (told(world).length > before) tellings.push(second)
  }
  // The first redelivery comes after a lease, then each wait equals the time since dispatch.
  expect(tellings).toEqual([10, 20, 40, 80, 160, 320])
  const attempts = told(world).map(({ execution }) => [execution.attempt, execution.startDeadlineAt])
  expect(new Set(attempts.map(String)).size).toBe(1)
  const { jobId, runNo, attempt, specOffset } = world.executions()[0] as Execution
  world.report({ type: 'STARTED', jobId, runNo, attempt, specOffset, at: world.now, startedAt: world.now, worker: 'gpu@h:1:b' })
  for (let second = 1; second <= 5; second++) {
    world.now += 1_000
    await world.settle()
  }
  expect(told(world)).toHaveLength(attempts.length)
})

it('it goes to the next worker of the name when the first has given it back', async () => {
  const world = new World()
  world.define('a', job({ pinTo: 'gpu', leaseMs: 10_000 }))
  await world.settle()
  const { jobId, runNo, attempt, specOffset } = world.executions()[0] as Execution
  world.report({ type: 'RELEASED', jobId, runNo, attempt, specOffset, at: world.now, worker: 'gpu@h:1:b' })
  await world.settle()
  world.now += 10_000
  await world.settle()
  expect(told(world).map(({ execution }) => execution.attempt)).toEqual([1, 2, 2])
})

it('it expires at its start deadline while its worker is absent', async () => {
  const world = new World()
  world.define('a', job({ pinTo: 'nobody', startDeadlineMs: 5_000 }))
  await world.settle()
  world.now += 10_001
  await world.settle()
  const states = world.log(names.state).flatMap(({ key, value }) => {
    const entry = String(key) === 'Sa' && value !== null ? codecs.state.decode(value) : undefined
    return entry === undefined || entry instanceof Promise ? [] : [entry.state]
  })
  expect(states.at(-1)?.lastRun).toMatchObject({ status: 'EXPIRED', runNo: 1 })
})

it('the progress that came with the start of an attempt is kept, as that of a heartbeat', async () => {
  const world = new World()
  world.define('a', job())
  await world.settle()
  const { jobId, runNo, attempt, specOffset } = world.executions()[0] as Execution
  const id = { jobId, runNo, attempt, specOffset }
  world.report({ ...id, type: 'STARTED', at: world.now, startedAt: world.now, worker: 'w', progress: 0.3, message: 'first page' })
  await world.settle()
  expect(world.lastHeartbeat('a', id)).toEqual({ checkedAt: world.now, progress: 0.3, message: 'first page' })
})

it('the last heartbeat of an attempt is kept until it ends, or is silent for longer than any lease', () => {
  const leases = new Leases(0)
  const id = (runNo: number, attempt: number) => ({ runNo, attempt, specOffset: 0 })
  const beat = (checkedAt: number) => ({ checkedAt, progress: 0.5, message: null })
  leases.note('a', id(1, 1), beat(1_000))
  expect(leases.renew('x', id(1, 1), beat(1_000))).toBe(false)
  expect(leases.size).toBe(1)
  leases.renew('a', id(1, 1), { checkedAt: 2_000, progress: 0.7, message: 'more' })
  expect(leases.last('a', id(1, 1))).toEqual({ checkedAt: 2_000, progress: 0.7, message: 'more' })
  expect(leases.last('a', id(1, 2))).toBeUndefined()
  leases.note('b', id(1, 1), beat(2_000))
  leases.ended('b', id(1, 1))
  expect(leases.last('b', id(1, 1))).toBeUndefined()
  for (let runNo = 0; runNo < 10_000; runNo++) leases.note('c', id(runNo, 1), beat(4_000_000))
  expect(leases.last('a', id(1, 1))).toBeUndefined()
  expect(leases.last('c', id(0, 1))).toBeDefined()
})
