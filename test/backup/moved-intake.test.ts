/**
 * Foreign schedules that arrive before, during and after a reshard, while the old intake goes on: each becomes one definition in the new topics.
 * The oracle counts the records of `jobs` by their keys, as a plain reader.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/ground/clock/index.ts'
import { newMetrics } from '../../src/ground/metrics/index.ts'
import { clusterOf } from '../../src/log/cluster/index.ts'
import { carry, reshard } from '../../src/tools/backup/index.ts'
import { ForeignIntake } from '../../src/worker/intake/index.ts'
import { topicNames, topicPlans } from '../../streams/topics/index.ts'
import { brokers, makeTopics, openLog, openWriter, registryUrl, uniquePrefix, Watcher } from '../kafka/harness.ts'

const folder = await mkdtemp(join(tmpdir(), 'duelog-moved-intake-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const anyTarget = {
  ...{ problem: () => undefined, seek: () => undefined, poolProblem: () => undefined, seekPool: () => undefined },
  failed: async () => {},
}

it('each foreign record becomes one definition, whichever intake takes it', async () => {
  const foreign = await makeTopics(['etf1', 'karafka'], 2)
  const [from, to] = [uniquePrefix(), uniquePrefix()]
  const cluster = { brokers, registryUrl, topicPrefix: from }
  const target = { ...cluster, topicPrefix: to }
  const [oldNames, newNames] = [topicNames(from), topicNames(to)]
  await openLog().ensureTopics({ plans: topicPlans(oldNames, ['default']), partitions: 3, replication: 1 })
  const { definition } = await clusterOf(cluster).openCodecs(['default'])

  const intakeOf = async (prefix: string): Promise<ForeignIntake> => {
    const intake = new ForeignIntake({
      ...{
        log: openLog(),
        definition,
        names: topicNames(prefix),
        prefix,
        targets: anyTarget,
        instance: prefix,
        clock: systemClock,
      },
      topics: { etf1: [foreign.etf1], karafka: [foreign.karafka] },
      ...{ metrics: newMetrics(), logger: pino({ level: 'silent' }) },
    })
    onTestFinished(() => intake.stop())
    await intake.start()
    return intake
  }
  const writer = await openWriter()
  const sent: string[] = []
  const send = async (): Promise<void> => {
    const [at, key] = [1_893_456_000, `job-${sent.length}`]
    const etf1 = { 'scheduler-epoch': `${at}`, 'scheduler-target-topic': 'orders', 'scheduler-target-key': 'k' }
    const karafka = { schedule_schema_version: '1.0.0', schedule_target_epoch: `${at}`, schedule_source_type: 'schedule' }
    const [topic, headers] =
      sent.length % 2 === 0
        ? [foreign.etf1, etf1]
        : [foreign.karafka, { ...karafka, schedule_target_topic: 'orders', schedule_target_key: key }]
    sent.push(key)
    await writer.write([{ topic, key, value: Buffer.from('x'), headers }])
  }
  const watching = async (topic: string) => {
    const seen = new Watcher({ topics: [topic] })
    await seen.reader.start()
    const keys = (): string[] => seen.records.flatMap(({ key, value }) => (value === null ? [] : `${key}`)).sort()
    return { keys, all: () => seen.until(() => new Set(keys()).size === sent.length) }
  }

  const old = await intakeOf(from)
  const before = await watching(oldNames.jobs)
  for (let count = 0; count < 20; count++) await send()
  await before.all()
  let isMoving = true
  const sending = (async () => {
    while (isMoving) await send()
  })()
  const common = { pools: [], retentions: {}, replication: 1, workFolder: folder, onProgress() {} }
  const { signal } = new AbortController()
  await reshard({ ...common, cluster, toPrefix: to, partitions: 2, intakeTopics: [], signal })
  isMoving = false
  await sending
  // The old intake takes all that came during the reshard, and a last record.
  await send()
  await before.all()
  await old.stop()
  const carried = () => carry({ cluster: target, fromPrefix: from, follow: false, onProgress() {}, signal })
  await carried()
  expect(await carried()).toBe(0)
  await intakeOf(to)
  await send()
  const after = await watching(newNames.jobs)
  await after.all()
  expect(after.keys()).toEqual([...sent].sort())
  expect(sent.length).toBeGreaterThan(30)
})
