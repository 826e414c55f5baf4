import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { startMsMax } from '../../src/ground/process/signals.ts'
import { up } from '../../src/program/cli/commands/up-command.ts'
import type { System, SystemOptions } from '../../src/program/system/system.ts'
import { ManualClock, VirtualTime } from '../tools/manual-clock.ts'
import { FakeTerminal } from './fake-terminal.ts'

/** A system that only records its calls. */
function fakeSystem(registryAnswered: boolean) {
  const asked: string[] = []
  let options: SystemOptions | undefined
  const started = Promise.withResolvers<void>()
  const start = async (given: SystemOptions): Promise<System> => {
    options = given
    given.onProgress?.('Fetching something (1 MB) …')
    given.logger?.info({ event: 'start-http-served', url: 'http://127.0.0.1:1' }, 'told')
    started.resolve()
    return {
      url: 'http://127.0.0.1:1',
      instance: 'duelog@host:1:a',
      brokers: ['b:1'],
      registryUrl: 'http://r',
      registryAnswered,
      partitions: 4,
      metrics: newMetrics(),
      ready: async () => void asked.push('ready'),
      stop: async () => void asked.push('stop'),
    }
  }
  return { start, asked, started: started.promise, fail: (error: Error) => options?.onFatal?.(error) }
}

function setting({ isTTY = false, levelChosen = false, registryAnswered = true, env = {} } = {}) {
  const terminal = new FakeTerminal({ isTTY })
  const controller = new AbortController()
  const system = fakeSystem(registryAnswered)
  const ended = up({ config: readConfig(env), levelChosen, terminal, signals: { stop: controller.signal }, start: system.start })
  return { terminal, controller, system, ended }
}

describe('up', () => {
  it.each([
    [true, 'http://r', '  Registry  http://r\n'],
    [false, 'http://r', '  Registry  http://r (not responding yet; using known schema IDs)\n'],
    [false, undefined, '  Registry  http://r (runs while it is used)\n'],
  ])('says whether the registry has answered: %s, of %s', async (registryAnswered, given, line) => {
    const env = given === undefined ? {} : { SCHEMA_REGISTRY_URL: given }
    const { terminal, controller, system, ended } = setting({ registryAnswered, env })
    await system.started
    await new Promise(setImmediate)
    controller.abort()
    await ended
    expect(terminal.err.join('')).toContain(line)
  })

  it('says what it fetches and, when ready, where everything is; a signal stops it with exit code 0', async () => {
    const { terminal, controller, system, ended } = setting()
    await system.started
    await new Promise(setImmediate)
    controller.abort()
    expect(await ended).toBe(0)
    expect(system.asked).toEqual(['ready', 'stop'])
    const said = terminal.err.join('')
    for (const part of [
      'Fetching',
      'Ready.\n  Dashboard http://127.0.0.1:1/\n',
      'http://127.0.0.1:1/v1',
      '/metrics',
      '/readyz',
      'b:1',
      'http://r',
      'Stopped.',
    ]) {
      expect(said).toContain(part)
    }
  })
  it('logs JSON to stdout when that is not a terminal', async () => {
    const { terminal, controller, ended } = setting()
    controller.abort()
    await ended
    expect(terminal.out.map((line) => JSON.parse(line).msg)).toContain('told')
  })
  it('keeps a terminal free of logs below warnings, unless a level was chosen', async () => {
    for (const levelChosen of [false, true]) {
      const { terminal, controller, ended } = setting({ isTTY: true, levelChosen })
      controller.abort()
      await ended
      expect(terminal.out.some((line) => line.includes('"told"'))).toBe(levelChosen)
      expect(terminal.err).toEqual([])
    }
  })
  it('stops what it started when the signal came during the start', async () => {
    const { controller, system, ended } = setting()
    controller.abort()
    expect(await ended).toBe(0)
    expect(system.asked.at(-1)).toBe('stop')
  })
  it('waits only some seconds for a start that does not finish', async () => {
    const time = new VirtualTime()
    const terminal = new FakeTerminal()
    const controller = new AbortController()
    const start = (): Promise<System> => new Promise(() => {})
    const ended = up({
      ...{ config: readConfig({}), levelChosen: false, terminal, signals: { stop: controller.signal }, start },
      clock: new ManualClock(time),
    })
    await time.advance(60_000)
    controller.abort()
    await time.advance(0)
    await time.advance(startMsMax - 1)
    expect(terminal.err.join('')).not.toContain('Stopped')
    await time.advance(1)
    expect(await ended).toBe(0)
    expect(terminal.err.join('')).toContain('Stopped before the start was complete')
  })
  it('stops and fails with one sentence when the system cannot go on', async () => {
    const { terminal, system, ended } = setting()
    await system.started
    system.fail(new DuelogError('embedded-failed', 'The broker ended by itself.'))
    expect(await ended).toBe(1)
    expect(system.asked.at(-1)).toBe('stop')
    expect(terminal.err).toContain('duelog: The broker ended by itself.\n')
  })
  it('passes on why the system does not start', async () => {
    const start = async (): Promise<System> => {
      throw new DuelogError('embedded-failed', 'Port 19092 is taken.')
    }
    const signals = { stop: new AbortController().signal }
    const ended = up({ config: readConfig({}), levelChosen: false, terminal: new FakeTerminal(), signals, start })
    await expect(ended).rejects.toThrow('Port 19092 is taken.')
  })
})
