import type { networkInterfaces } from 'node:os'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { systemClock } from '../../../src/ground/clock/clock.ts'
import { builtInHandlers } from '../../../src/worker/executor/handlers/built-in.ts'
import type { Handler, Run } from '../../../src/worker/executor/handlers/handler.ts'

const options = {
  httpDeny: [],
  httpSigningKey: undefined,
  writer: () => Promise.reject(new Error('no log here')),
  prefix: 'duelog.',
  clock: systemClock,
}
const handlers = builtInHandlers(options)
const run = (wanted: Partial<Run>) => ({ attempt: 1, payload: null, signal: new AbortController().signal, ...wanted }) as Run
const call = async (name: string, wanted: Partial<Run>) => (handlers[name] as Handler)(run(wanted))

it('fail fails as often as it is told, then succeeds', async () => {
  const payload = { times: 2 }
  await expect(call('fail', { payload, attempt: 1 })).rejects.toThrow('attempt 1 of the 2')
  await expect(call('fail', { payload, attempt: 2 })).rejects.toThrow('attempt 2 of the 2')
  expect(await call('fail', { payload, attempt: 3 })).toEqual({ attempt: 3 })
})

it('sleep ends when its signal is aborted', async () => {
  const abort = new AbortController()
  const sleeping = call('sleep', { payload: { ms: 600_000 }, signal: abort.signal })
  abort.abort(new Error('enough'))
  await expect(sleeping).rejects.toThrow()
  expect(await call('sleep', { payload: { ms: 0 } })).toBeUndefined()
})

it('sleep and fail say what payload they need, and are not tried again without it', async () => {
  for (const name of ['sleep', 'fail'])
    for (const payload of [null, {}, { ms: -1, times: -1 }, { ms: '1', times: '1' }, 'text', Buffer.from('x')]) {
      await expect(call(name, { payload })).rejects.toMatchObject({
        name: 'NonRetryableError',
        message: /payload must be JSON like/,
      })
    }
})

it.each(['info', 'warn'])('log writes the payload on a logger of the level %s, and noop nothing', async (level) => {
  const lines: string[] = []
  const logger = pino({ level, base: null, timestamp: false }, { write: (line) => void lines.push(line) })
  await call('log', { payload: Buffer.from('plain'), scheduledFor: 0, logger })
  await call('noop', { logger })
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { level: 30, event: 'run-logged', scheduledFor: '1970-01-01T00:00:00.000Z', payload: 'plain', msg: 'run' },
  ])
})

it('log writes nothing where only errors are wanted', async () => {
  const lines: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => void lines.push(line) })
  await call('log', { payload: null, scheduledFor: 0, logger })
  expect(lines).toEqual([])
})

it('http reaches no address of this machine where it may not reach the loopback ones', async () => {
  const other = ['192.0.2.7', '2001:db8::7'] as const
  const interfaces = {
    eth0: [
      { address: other[0], family: 'IPv4' },
      { address: other[1], family: 'IPv6' },
    ],
  } as unknown as ReturnType<typeof networkInterfaces>
  const guarded = builtInHandlers({ ...options, httpDeny: ['127.0.0.0/8', '::1'], interfaces: () => interfaces })
  for (const url of [`http://${other[0]}:9/`, `http://[${other[1]}]:9/`]) {
    const http = { url, method: 'GET', headers: {} } as const
    await expect((async () => (guarded.http as Handler)(run({ http, headers: {} })))(), url).rejects.toMatchObject({
      name: 'NonRetryableError',
      message: expect.stringContaining('DUELOG_HTTP_ALLOW'),
    })
  }
})
