/** Hooks around runs: their order, their errors, their context, and batches. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Logger, pino } from 'pino'
import { expect, it } from 'vitest'
import { createWorker } from '../../../src/clients/library/worker.ts'
import type { Handlers, Run } from '../../../src/worker/executor/handlers/handler.ts'
import type { Hook } from '../../../src/worker/executor/handlers/hooks.ts'
import { rest } from '../../tools/manual-clock.ts'
import { Harness } from '../harness.ts'

/** A hook that notes its calls. */
function noting(name: string, calls: string[], more: Hook = {}): Hook {
  return {
    async around(run, next) {
      calls.push(`${name} around ${run.jobId}`)
      const result = await next()
      calls.push(`${name} ends ${run.jobId}`)
      return result
    },
    before: ({ jobId }) => calls.push(`${name} before ${jobId}`),
    after: ({ jobId }, result) => calls.push(`${name} after ${jobId} ${String(result)}`),
    error: ({ jobId }, error) => calls.push(`${name} error ${jobId} ${(error as Error).message}`),
    ...more,
  }
}

async function ran(handlers: Handlers, hooks: Hook[], jobs: string[], logger?: Logger) {
  const options = { hooks, ...(logger !== undefined && { logger }) }
  const harness = await new Harness(handlers, options).start()
  for (const jobId of jobs) harness.put({ jobId, handler: 'work' })
  const ends = () => harness.events().filter(({ type }) => type !== 'STARTED' && type !== 'HEARTBEAT')
  for (let round = 0; round < 50 && ends().length < jobs.length; round++) {
    await rest()
    await harness.clock.advance(20)
  }
  await harness.stop()
  return ends().sort((left, right) => (left.jobId < right.jobId ? -1 : 1))
}

it('the first hook is the outermost: around, before, handler, after', async () => {
  const calls: string[] = []
  const work = ({ jobId }: Run) => {
    calls.push(`work ${jobId}`)
    return 'done'
  }
  const [end] = await ran({ work }, [noting('A', calls), noting('B', calls)], ['a'])
  expect(end).toMatchObject({ type: 'SUCCEEDED', result: Buffer.from('"done"') })
  expect(calls).toEqual([
    ...['A around a', 'B around a', 'A before a', 'B before a', 'work a'],
    ...['B after a done', 'A after a done', 'B ends a', 'A ends a'],
  ])
})

it('an error of the handler is told and stays the outcome; one of before does the same and no handler is called', async () => {
  const calls: string[] = []
  const work = () => {
    throw new TypeError('no customer')
  }
  const plain = noting('A', calls, { around: undefined as never })
  delete plain.around
  expect(await ran({ work }, [plain], ['a'])).toMatchObject([
    { type: 'FAILED', error: { type: 'TypeError', message: 'no customer' } },
  ])
  expect(calls).toEqual(['A before a', 'A error a no customer'])
  calls.length = 0
  const refusing = { ...plain, before: () => Promise.reject(new RangeError('not today')) }
  expect(await ran({ work: () => calls.push('work') }, [refusing], ['a'])).toMatchObject([
    { type: 'FAILED', error: { type: 'RangeError', message: 'not today' } },
  ])
  expect(calls).toEqual(['A error a not today'])
})

it('an error of after or error is logged, and changes no outcome', async () => {
  const lines: string[] = []
  const logger: Logger = pino({ level: 'warn' }, { write: (line) => lines.push(line) })
  const broken: Hook = {
    after: () => {
      throw new Error('log is away')
    },
    error: () => Promise.reject(new Error('log is away')),
  }
  expect(await ran({ work: () => 7 }, [broken], ['a'], logger)).toMatchObject([{ type: 'SUCCEEDED', result: Buffer.from('7') }])
  const failing = () => {
    throw new Error('mine')
  }
  expect(await ran({ work: failing }, [broken], ['a'], logger)).toMatchObject([{ type: 'FAILED', error: { message: 'mine' } }])
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
    'A hook "after" failed; the outcome of the run stays.',
    'A hook "error" failed; the outcome of the run stays.',
  ])
})

it('around carries a context, may replace the result, and may not run the handler twice', async () => {
  const context = new AsyncLocalStorage<string>()
  const carrying: Hook = { around: ({ executionId }, next) => context.run(executionId, next) }
  const work = async () => {
    await rest()
    return context.getStore()
  }
  expect(await ran({ work }, [carrying], ['a', 'b'])).toMatchObject([
    { result: Buffer.from('"a/1@0-0"') },
    { result: Buffer.from('"b/1@0-0"') },
  ])
  const replacing: Hook = { around: async (_run, next) => ({ was: await next() }) }
  expect(await ran({ work: () => 1 }, [replacing], ['a'])).toMatchObject([{ result: Buffer.from('{"was":1}') }])
  let calls = 0
  const twice: Hook = { around: async (_run, next) => [await next(), await next()] }
  const [end] = await ran({ work: () => ++calls }, [twice], ['a'])
  expect([end?.type, end?.error?.message, calls]).toEqual(['FAILED', 'a hook called next twice for run a/1@0-0', 1])
})

it('each run of a batch has its hooks, and one whose before throws is not in the batch', async () => {
  const calls: string[] = []
  const batches: string[][] = []
  const before = ({ jobId }: Run) => {
    if (jobId === 'b') throw new Error('not b')
  }
  const work = {
    batch: { maxSize: 10, maxWaitMs: 5 },
    run: (runs: readonly Run[]) => {
      batches.push(runs.map(({ jobId }) => jobId))
      return runs.map(({ jobId }) => (jobId === 'c' ? { error: new Error('not c') } : { result: jobId }))
    },
  }
  const ends = await ran({ work }, [noting('A', calls, { before })], ['a', 'b', 'c'])
  expect(batches).toEqual([['a', 'c']])
  expect(ends.map(({ type, error }) => [type, error?.message])).toEqual([
    ['SUCCEEDED', undefined],
    ['FAILED', 'not b'],
    ['FAILED', 'not c'],
  ])
  expect(calls.sort()).toEqual(['A after a a', 'A error b not b', 'A error c not c'])
})

it('a batch whose outcomes do not match its runs fails them for good, with hooks as without', async () => {
  const work = { batch: { maxSize: 10, maxWaitMs: 5 }, run: () => [{}] }
  for (const hooks of [[], [{ before: () => {} }]]) {
    const ends = await ran({ work }, hooks, ['a', 'b'])
    for (const end of ends) expect(end.error).toMatchObject({ type: 'BatchOutcomesWrong', retryable: false })
  }
  const throwing = {
    batch: { maxSize: 10, maxWaitMs: 5 },
    run: () => {
      throw new RangeError('all of them')
    },
  }
  for (const end of await ran({ work: throwing }, [{ before: () => {} }], ['a', 'b'])) expect(end.error?.type).toBe('RangeError')
})

it.each([
  [{}, /hooks of the worker is no list/],
  [[5], /hook 0 of the worker is no object/],
  [[{}, { befor: () => {} }], /hook 1 of the worker has no "befor"; known are around, before, after, error/],
  [[{ after: 5 }], /after of hook 0 of the worker is no function/],
])('refuses the hooks %j', (hooks, message) => {
  expect(() => createWorker({ brokers: 'a:1', handlers: {}, hooks: hooks as never })).toThrow(message)
})
