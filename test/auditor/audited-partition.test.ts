/** Up to when a partition is judged, by a clock that is not always right. */
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { AuditedPartition, type AuditorRoleOptions } from '../../src/auditor/audited-partition.ts'
import { Pacing } from '../../src/auditor/pacing.ts'
import { topicNames } from '../../streams/topics/topics.ts'
import { memoryStore } from '../tools/memory-store.ts'

it('a partition judges nothing further while its clock is not trusted', async () => {
  const options = {
    names: topicNames('duelog.'),
    stores: { open: async () => ({ store: memoryStore(), wiped: undefined }) },
    clock: { nowMs: () => 0 },
    graceMs: 1_000,
    pacing: new Pacing(() => 1),
    logger: pino({ level: 'silent' }),
  } as unknown as AuditorRoleOptions
  const hears = { onFinding: () => undefined, onJudged: () => undefined, onUnjudged: () => undefined }
  const audited = await AuditedPartition.open(0, ['duelog.jobs'], options, hears, { size: 1 })
  audited.lanes.ended('duelog.jobs', { earliest: 0, next: 0 }, true)
  for (const [atMs, until] of [
    [undefined, null],
    [100_000, 99_000],
    [undefined, 99_000],
    [101_000, 100_000],
  ] as const) {
    audited.looked(atMs)
    await audited.settle()
    expect(audited.proof().judgedUntil).toBe(until)
  }
})
