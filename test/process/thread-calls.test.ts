import { expect, onTestFinished, test } from 'vitest'
import { DuelogError } from '../../src/ground/errors/index.ts'
import { modulePath } from '../../src/ground/process/index.ts'
import { ThreadCalls, type ThreadCallsOptions } from '../../src/ground/process/thread-calls.ts'

/** Timers are run by the test. */
function timers() {
  const tasks = new Set<() => void>()
  const at = (_: number, task: () => void): (() => void) => {
    tasks.add(task)
    return () => tasks.delete(task)
  }
  const elapse = (): void => {
    for (const task of [...tasks]) if (tasks.delete(task)) task()
  }
  return { clock: { nowMs: () => 0, at }, elapse, tasks }
}

function threadCalls(options: Partial<ThreadCallsOptions> = {}) {
  const { clock, elapse, tasks } = timers()
  const calls = new ThreadCalls({
    ...{ what: 'the test', file: modulePath('./answering-thread', import.meta.url), name: 'answering', heapMb: 64 },
    ...{ clock, msMax: 1_000, late: new DuelogError('overloaded', 'too long'), endsIt: [] },
    ...options,
  })
  onTestFinished(() => calls.stop())
  return { calls, elapse, tasks }
}

test('answers come to their calls, errors with their message, and no timer is left', async () => {
  const { calls, tasks } = threadCalls()
  const answers = await Promise.allSettled([
    calls.call('echo', [{ bytes: Buffer.from('a') }]),
    calls.call('fail', []),
    calls.call('echo', [2]),
  ])
  expect(answers).toEqual([
    { status: 'fulfilled', value: { bytes: Buffer.from('a') } },
    { status: 'rejected', reason: expect.objectContaining({ code: 'internal', message: 'no such thing' }) },
    { status: 'fulfilled', value: 2 },
  ])
  expect(calls.size + tasks.size).toBe(0)
})

test.each(['not-ready', 'internal'] as const)(
  'a thread that dies is an error of all its calls (%s), and the next call has another',
  async (code) => {
    const { calls } = threadCalls(code === 'not-ready' ? {} : { diedCode: code })
    const answers = await Promise.allSettled([calls.call('die', []), calls.call('echo', [1])])
    expect(answers).toEqual(Array(2).fill({ status: 'rejected', reason: expect.objectContaining({ code }) }))
    expect(await calls.call('echo', [2])).toBe(2)
  },
)

test('a call that takes too long ends a thread that may hang', async () => {
  const { calls, elapse } = threadCalls({ endsIt: ['late'] })
  await calls.call('echo', [1])
  const hanging = calls.call('hang', [])
  const behind = calls.call('echo', [1])
  elapse()
  await expect(hanging).rejects.toMatchObject({ code: 'overloaded' })
  await expect(behind).rejects.toMatchObject({ message: expect.stringMatching(/too long|has ended/) })
  expect(await calls.call('echo', [2])).toBe(2)
})

test('a thread that is not ended learns that its caller has gone, and answers the others', async () => {
  const { calls } = threadCalls()
  const gone = new AbortController()
  const first = calls.call('untilGone', [], gone.signal)
  const second = calls.call('echo', [1])
  gone.abort(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  expect(await second).toBe(1)
})

test('an idle thread ends, and after a stop nothing begins', async () => {
  const { calls, elapse } = threadCalls({ idleMs: 5_000 })
  await calls.call('echo', [1])
  expect(calls.isRunning).toBe(true)
  elapse()
  expect(calls.isRunning).toBe(false)
  expect(await calls.call('echo', [2])).toBe(2)
  await calls.stop()
  await expect(calls.call('echo', [3])).rejects.toMatchObject({ code: 'not-ready' })
})
