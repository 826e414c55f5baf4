/** Each default logger of our processes limits the lines for a flood of garbage. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger, LoggerOptions } from 'pino'
import { beforeEach, expect, it, vi } from 'vitest'
import { createWorker } from '../../../src/clients/library/create-worker.ts'
import { readConfig } from '../../../src/ground/config/config.ts'
import { up } from '../../../src/program/cli/commands/up-command.ts'
import { answerPlan } from '../../../src/program/system/role-child.ts'
import { startSystem } from '../../../src/program/system/system.ts'
import { FakeTerminal } from '../fake-terminal.ts'

const made = vi.hoisted(() => ({ lines: [] as string[], loggers: [] as Logger[] }))
vi.mock('pino', async (original) => {
  const real = await original<typeof import('pino')>()
  const pino = (options: LoggerOptions): Logger => {
    const logger = real.pino(options, { write: (line: string) => void made.lines.push(line) })
    made.loggers.push(logger)
    return logger
  }
  return { ...real, pino: Object.assign(pino, real.pino) }
})
vi.mock('../../../src/program/embedded/start.ts', () => ({
  startEmbedded: () => Promise.reject(new Error('as far as this goes')),
}))

beforeEach(() => {
  made.lines.length = 0
  made.loggers.length = 0
})
const folder = join(tmpdir(), 'duelog-default-loggers')
const config = () => readConfig({ DUELOG_DATA_DIR: folder })
const never = () => new Promise<never>(() => {})

it.each<[string, () => unknown]>([
  ['a worker', () => createWorker({ brokers: 'b:1', registryUrl: 'http://r', handlers: { one: () => {} } })],
  ['a system', () => startSystem({ config: config() }).catch(() => {})],
  [
    'a child process',
    async () => {
      const exited = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
      const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
      const cluster = { brokers: ['b'], registryUrl: 'http://r' }
      // Its file of settings cannot be read, so it ends before it connects.
      const plan = { config: { ...config(), roles: new Set(['executor'] as const), topicPrefix: undefined as never }, cluster }
      const channel = process as unknown as { send?: (message: object, onSent: () => void) => void }
      channel.send = (message, onSent) => {
        if ('ask' in message) answerPlan(plan, (answer: object) => process.emit('message', answer, undefined))
        onSent()
      }
      await import('../../../src/program/cli/role-process.ts')
      delete channel.send
      expect([exited.mock.calls, said.mock.calls.length]).toEqual([[[1]], 1])
      vi.restoreAllMocks()
    },
  ],
  [
    'duelog up',
    () => {
      void up({
        config: config(),
        levelChosen: true,
        terminal: new FakeTerminal({ isTTY: false }),
        signals: { stop: new AbortController().signal },
        start: never,
      })
    },
  ],
])('that of %s', async (_what, start) => {
  await start()
  const [logger] = made.loggers
  for (let offset = 0; offset < 100; offset++) logger?.warn({ topic: 'jobs', offset }, 'A record cannot be read.')
  const written = made.lines.filter((line) => line.includes('A record cannot be read.'))
  expect(written.length).toBeGreaterThan(0)
  expect(written.length).toBeLessThanOrEqual(20)
})
