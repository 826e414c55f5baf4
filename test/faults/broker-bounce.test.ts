/** The broker dies and comes back while jobs are due. Every role continues by itself. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Embedded } from '../../src/program/embedded/options.ts'
import { startEmbedded } from '../../src/program/embedded/start.ts'
import { freePorts } from '../setup/free-ports.ts'
import { clean, type Occurrence } from '../tools/checker-audit.ts'
import { oneShots, openSite, type Portion, recurring, temporaryFolder } from './harness.ts'

test('a broker that is killed and restarted while jobs are due causes only a delay', {
  timeout: 240_000,
}, async (context) => {
  const dataDir = await temporaryFolder(context)
  const [kafkaPort, registryPort] = await freePorts()
  const start = () =>
    startEmbedded({
      dataDir,
      kafkaPort,
      registryPort,
      wantKafka: true,
      wantRegistry: false,
      logger: pino({ level: 'silent' }),
      onExit: () => died(),
    })
  let died = (): void => undefined
  let broker: Embedded = await start()
  context.onTestFinished(() => broker.stop())
  const site = await openSite(context, { brokers: broker.brokers ?? [] })
  const all = await site.system('scheduler,executor,retrier', 'first')
  const second = await site.system('scheduler,executor,retrier', 'second')

  const expected: Occurrence[] = []
  for (let bounce = 0; bounce < 2; bounce++) {
    // Each bounce has its own jobs. Some are due before it and some after it, even on a slow machine.
    const before = site.checker.executions.length
    expected.push(...(await site.write(...portions(bounce, Date.now() + 1_000))))
    await site.checker.until(() => site.checker.executions.length > before + 50)
    const dead = new Promise<void>((resolve) => {
      died = resolve
    })
    process.kill(Number(await readFile(join(dataDir, 'kafka.pid'), 'utf8')), 'SIGKILL')
    await dead
    await broker.stop()
    broker = await start()
  }
  await site.checker.succeeded(expected)
  await Promise.all([all.stop(), second.stop()])
  expect(await site.checker.audit(expected)).toEqual(clean)
  for (const { kind } of [...all.messages, ...second.messages]) expect(kind).not.toBe('fatal')
})

/** The jobs that are due in the seconds after `from`: one-shot jobs, some with one failure, and recurring jobs. */
function portions(bounce: number, from: number): Portion[] {
  const failing = oneShots(`failing-${bounce}`, 15, from, 300)
  for (const job of failing.jobs) Object.assign(job, failsOnce)
  return [failing, oneShots(`shot-${bounce}`, 300, from, 20), recurring(`again-${bounce}`, 4, from + 1_000, 500, 15)]
}

/** A retry of one second goes through a delay topic. */
const failsOnce: Partial<Portion['jobs'][number]> = {
  target: { handler: 'fail' },
  payload: { times: 1 },
  retry: { backoff: { fixed: { delayMs: 1_000 } } },
}
