/** An auditor whose wall clock is ahead: it judges nothing that is not due yet. */
import { expect, it } from 'vitest'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { GroupReaderOptions } from '../../src/ground/ports/log.ts'
import { processClock } from '../../src/log/cluster/process-clock.ts'
import type { AuditorRoleOptions } from '../../src/tools/auditor/audited-partition.ts'
import { Auditor } from '../../src/tools/auditor/role.ts'
import { topicNames } from '../../streams/topics/topics.ts'
import { LoopbackLog } from '../tools/loopback-log.ts'
import { ManualClock } from '../tools/manual-clock.ts'
import { memoryStore } from '../tools/memory-store.ts'

const hourMs = 3_600_000
const silent = { debug() {}, info() {}, warn() {}, error() {} } as unknown as AuditorRoleOptions['logger']

it('the auditor judges nothing while its clock is ahead, and continues when it is right again', async () => {
  const manual = new ManualClock()
  const metrics = newMetrics()
  const clock = processClock({ clock: manual, stepMsMax: 2_000, needsProof: false, metrics, logger: silent })
  clock.start(async () => {
    const sentMs = manual.steadyMs()
    clock.appended({ source: 'broker 1', sentMs, receivedMs: sentMs, brokerMs: manual.nowMs() - manual.skewMs })
  })
  const names = topicNames('test.')
  const log = new LoopbackLog(1)
  const offsets = async () => [{ partition: 0, earliest: 0, next: 0 }]
  const auditor = new Auditor({
    log: {
      reader: (options: GroupReaderOptions) => log.reader(options),
      admin: async () => ({ offsets, close: async () => {} }),
      topics: async () => [],
    },
    ...{ codecs: {}, names, instance: 'auditor@test:1:a', userData: () => null, clock, metrics, logger: silent, graceMs: 1_000 },
    stores: { open: async () => ({ store: { ...memoryStore(), close: async () => {} }, wiped: undefined }) },
  } as unknown as AuditorRoleOptions)
  await auditor.start()
  const trueMs = (): number => manual.nowMs() - manual.skewMs
  const judged = (): number => auditor.proof()[0]?.judgedUntil ?? 0
  await manual.advance(60_000)
  const before = judged()
  expect(before).toBeGreaterThan(trueMs() - 30_000)
  manual.skewMs = hourMs
  await manual.advance(60_000)
  expect(judged()).toBeLessThanOrEqual(trueMs())
  manual.skewMs = 0
  await manual.advance(60_000)
  expect(judged()).toBeGreaterThan(trueMs() - 30_000)
  await auditor.stop()
  clock.stop()
})
