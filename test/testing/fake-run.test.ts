import { expect, it } from 'vitest'
import type { Handler } from '../../src/clients/library/index.ts'
import { DuelogError, fakeRun } from '../../src/testing/library.ts'

it('is a first attempt with the payload as a handler reads it', () => {
  const at = new Date(0)
  const run = fakeRun({ at, name: 'Ada' })
  expect(run.payload).toEqual({ at: '1970-01-01T00:00:00.000Z', name: 'Ada' })
  expect(run.payloadBytes?.toString()).toBe('{"at":"1970-01-01T00:00:00.000Z","name":"Ada"}')
  expect(run).toMatchObject({ jobId: 'job', runNo: 1, attempt: 1, executionId: 'job/1@test', contentType: 'application/json' })
  expect(fakeRun()).toMatchObject({ payload: null, payloadBytes: null, contentType: null, http: null })
})

it('takes overrides, and refuses those that no run has', () => {
  const run = fakeRun('x', { jobId: 'a', runNo: 3, attempt: 2, scheduledFor: 5 })
  expect(run).toMatchObject({ jobId: 'a', runNo: 3, attempt: 2, executionId: 'a/3@test', scheduledFor: 5, dueAt: 5 })
  expect(() => fakeRun('x', { atempt: 2 } as never)).toThrow('fakeRun has no option "atempt"; did you mean attempt?')
  expect(() => fakeRun({ n: 1n })).toThrow('the payload of fakeRun must be a JSON value')
})

it.each([
  null,
  5,
  'x',
  [1],
  { attempt: '2' },
  { attempt: 0 },
  { runNo: 1.5 },
  { jobId: 5 },
  { signal: null },
  { lines: [] },
  { heartbeat: null },
  { log: 5 },
  { logger: {} },
  { headers: null },
  { http: 'x' },
  { payloadBytes: 'x' },
  { contentType: 5 },
])('refuses the overrides %j in a sentence', (overrides) => {
  expect(() => fakeRun(1, overrides as never)).toThrow(DuelogError)
})

it('leaves out overrides that are undefined, and aborts beside a signal of the test', () => {
  expect(fakeRun(1, { jobId: undefined, payload: undefined })).toMatchObject({ jobId: 'job', payload: 1 })
  const own = new AbortController()
  const [aborted, untouched] = [fakeRun(1, { signal: own.signal }), fakeRun(1)]
  own.abort(new Error('by the test'))
  expect([aborted.signal.reason.message, untouched.signal.aborted]).toEqual(['by the test', false])
  const other = fakeRun(1, { signal: new AbortController().signal })
  other.abort(new Error('too slow'))
  expect(other.signal.reason.message).toBe('too slow')
})

it('shows what the handler reported, and can be aborted', async () => {
  const handler: Handler<{ pages: number }> = async ({ payload, heartbeat, signal, log, logger }) => {
    for (let page = 1; page <= payload.pages; page++) heartbeat({ progress: page / payload.pages })
    log('info', 'printed', { pages: payload.pages })
    logger.info('done')
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const run = fakeRun({ pages: 2 })
  const done = handler(run)
  expect(run.heartbeats).toEqual([{ progress: 0.5 }, { progress: 1 }])
  expect(run.lines).toEqual([{ level: 'info', text: 'printed', fields: { pages: 2 } }])
  run.abort(new Error('too slow'))
  await expect(done).rejects.toThrow('too slow')
})
