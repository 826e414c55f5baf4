/**
 * `duelog up` is stopped while its only broker is silent, and while it is down. It logs why it waits, ends, and loses nothing.
 */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Embedded } from '../../src/program/embedded/options.ts'
import { startEmbedded } from '../../src/program/embedded/start.ts'
import { duelogEnvironment } from '../setup/environment.ts'
import { freePorts } from '../setup/free-ports.ts'
import { clean } from '../tools/checker-audit.ts'
import type { Test } from '../tools/duelog-process.ts'
import { oneShots, openSite, registryUrl, temporaryFolder } from './harness.ts'

const program = fileURLToPath(new URL('../../src/program/cli/duelog.ts', import.meta.url))

async function up(test: Test, settings: Record<string, string>) {
  const child = spawn(process.execPath, [program, 'up'], {
    env: duelogEnvironment({ DUELOG_LOG_LEVEL: 'warn', DUELOG_HTTP_PORT: '0', DUELOG_ONE_PROCESS: 'true', ...settings }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  test.onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      if (line === 'Ready.') resolve()
    })
  })
  await Promise.race([ready, exited.then(() => Promise.reject(new Error(`It ended before it was ready: ${lines.join('\n')}`)))])
  return {
    /** Resolves with its exit code and its log lines about the brokers at its end. */
    async end() {
      child.kill('SIGTERM')
      const code = await exited
      return { code, said: lines.filter((line) => line.includes('No broker answers')).length }
    },
  }
}

test('a stop without brokers ends, logs why it waits, and nothing is lost or doubled', { timeout: 240_000 }, async (context) => {
  const dataDir = await temporaryFolder(context)
  const [kafkaPort, registryPort] = await freePorts()
  const logger = pino({ level: 'silent' })
  const start = () =>
    startEmbedded({ dataDir, kafkaPort, registryPort, wantKafka: true, wantRegistry: false, logger, onExit: () => died() })
  let died = (): void => undefined
  let broker: Embedded = await start()
  context.onTestFinished(() => broker.stop())
  const site = await openSite(context, { brokers: broker.brokers ?? [] })
  const settings = (name: string) => ({
    KAFKA_BROKERS: (broker.brokers ?? []).join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    DUELOG_TOPIC_PREFIX: site.prefix,
    DUELOG_PARTITIONS: '2',
    DUELOG_REPLICATION: '1',
    DUELOG_DATA_DIR: join(site.folder, name),
  })
  const first = await up(context, settings('first'))
  const second = await up(context, settings('second'))
  const expected = await site.write(oneShots('shot', 300, Date.now() + 300, 20))
  await site.checker.until(() => site.checker.events.length > 50)

  const pid = Number(await readFile(join(dataDir, 'kafka.pid'), 'utf8'))
  process.kill(pid, 'SIGSTOP')
  expect(await first.end()).toEqual({ code: 0, said: 1 })
  const dead = new Promise<void>((resolve) => {
    died = resolve
  })
  process.kill(pid, 'SIGKILL')
  await dead
  expect(await second.end()).toEqual({ code: 0, said: 1 })

  await broker.stop()
  broker = await start()
  const third = await up(context, settings('first'))
  await site.checker.succeeded(expected)
  expect(await third.end()).toEqual({ code: 0, said: 0 })
  expect(await site.checker.audit(expected)).toEqual(clean)
})
