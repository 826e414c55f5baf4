/** When an auditor beside a scheduler joins its group. */
import { expect, it } from 'vitest'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { GroupReaderOptions } from '../../src/ground/ports/log.ts'
import type { AuditorRoleOptions } from '../../src/tools/auditor/audited-partition.ts'
import { Auditor } from '../../src/tools/auditor/role.ts'
import { topicNames } from '../../streams/topics/topics.ts'
import { LoopbackLog } from '../tools/loopback-log.ts'
import { ManualClock } from '../tools/manual-clock.ts'
import { memoryStore } from '../tools/memory-store.ts'

it('joins when it starts, retries after a failure, and never joins after it is stopped', async () => {
  const clock = new ManualClock()
  const log = new LoopbackLog(1)
  let joins = 0
  let away = true
  const errors: unknown[] = []
  const metrics = newMetrics()
  let isSilent = false
  const offsets = async () => {
    if (isSilent) throw new DuelogError('broker-unavailable', 'silent')
    return [{ partition: 0, earliest: 0, next: 0 }]
  }
  const options = (): AuditorRoleOptions =>
    ({
      log: {
        reader: (wanted: GroupReaderOptions) => {
          joins++
          if (away) throw new DuelogError('broker-unavailable', 'away')
          return log.reader(wanted)
        },
        admin: async () => ({ offsets, close: async () => {} }),
        topics: async () => [],
      },
      ...{ codecs: {}, names: topicNames('test.'), instance: 'auditor@test:1:a', userData: () => null, clock, graceMs: 1_000 },
      ...{ metrics },
      logger: { debug() {}, info() {}, warn() {}, error: (facts: unknown) => void errors.push(facts) },
      stores: { open: async () => ({ store: { ...memoryStore(), close: async () => {} }, wiped: undefined }) },
    }) as unknown as AuditorRoleOptions
  const owner = Promise.withResolvers<void>()
  const auditor = new Auditor(options())
  auditor.startAfter(owner.promise)
  await clock.advance(60_000)
  expect(joins).toBe(0)
  owner.resolve()
  await clock.advance(6_000)
  expect(joins).toBeGreaterThanOrEqual(1)
  expect(errors).toMatchObject([{ err: { message: 'away' } }, ...errors.slice(1)])
  away = false
  await clock.advance(60_000)
  expect(auditor.proof()).toHaveLength(1)
  isSilent = true
  const age = async (): Promise<number> => (await metrics.auditAge.get()).values[0]?.value ?? 0
  await clock.advance(10_000)
  const aged = await age()
  await clock.advance(30_000)
  expect((await age()) - aged).toBe(30)
  await auditor.stop()

  const before = joins
  const late = Promise.withResolvers<void>()
  const stopped = new Auditor(options())
  stopped.startAfter(late.promise)
  await stopped.stop()
  late.resolve()
  await clock.advance(60_000)
  expect(joins).toBe(before)
})
