/** A partition under audit: by a clock that is not always right, and in a data folder that has belonged to another system. */
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { AuditedPartition, type AuditorRoleOptions } from '../../src/tools/auditor/audited-partition.ts'
import { topicNames } from '../../streams/topics/topics.ts'
import { codecs } from '../model/world.ts'
import { memoryStore } from '../tools/memory-store.ts'

it('a partition judges nothing further while its clock is not trusted', async () => {
  const options = {
    names: topicNames('duelog.'),
    stores: { open: async () => ({ store: memoryStore(), wiped: undefined }) },
    clock: { nowMs: () => 0 },
    graceMs: 1_000,
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

const beganMs = 1_800_000_000_000

/** A system that is audited in the given store. */
async function auditIn(store: ReturnType<typeof memoryStore>, prefix: string, clusterId: string | undefined) {
  const found: string[] = []
  const wiped: unknown[] = []
  const names = topicNames(prefix)
  const options = {
    ...{ names, clusterId, codecs, graceMs: 1_000 },
    stores: { open: async () => ({ store: { ...store, close: async () => {} }, wiped: undefined }) },
    clock: { nowMs: () => beganMs, steadyMs: () => 0, at: () => () => {} },
    logger: { warn: (fields: { wiped: unknown }) => void wiped.push(fields.wiped) },
  } as unknown as AuditorRoleOptions
  const hears = {
    onFinding: ({ kind, what }: { kind: string; what: string }) => void found.push(`${kind} ${what}`),
    ...{ onJudged: () => undefined, onUnjudged: () => undefined },
  }
  const audited = await AuditedPartition.open(0, [names.jobs], options, hears, { size: 1 })
  const judge = async (next: number, atMs: number): Promise<void> => {
    audited.lanes.ended(names.jobs, { earliest: 0, next }, true)
    audited.looked(atMs)
    await audited.settle()
  }
  return { audited, names, found, wiped, judge }
}

it.each([
  ['of another prefix', 'b.', 'one', /the topic a\.jobs, this one has b\.jobs/],
  ['of another cluster', 'a.', 'two', /the cluster one, this one is two/],
  ['of the same system', 'a.', 'one', undefined],
  ['of the same system, while the cluster is unknown', 'a.', undefined, undefined],
])('accounts %s', async (_, prefix, clusterId, reason) => {
  const store = memoryStore()
  const first = await auditIn(store, 'a.', 'one')
  const value = codecs.definition.encode({ schedule: { at: beganMs + 120_000 }, target: { handler: 'x' } })
  const place = { topic: first.names.jobs, partition: 0, offset: 0, timestampMs: beganMs, byBroker: true }
  await first.audited.take(first.names.jobs, [{ ...place, key: Buffer.from('due'), value, headers: {} }])
  await first.judge(1, beganMs + 90_000)
  await first.audited.close()
  expect(first.found).toEqual([])

  // The job is overdue. Whether it ran is in the log of the first system.
  const second = await auditIn(store, prefix, clusterId)
  expect(second.wiped).toEqual(reason === undefined ? [] : [expect.stringMatching(reason)])
  expect(second.audited.lanes.positions().get('a.jobs')).toBe(reason === undefined ? 1 : undefined)
  expect(second.audited.proof().records).toBe(reason === undefined ? 1 : 0)
  await second.judge(reason === undefined ? 1 : 0, beganMs + 600_000)
  expect(second.found).toHaveLength(reason === undefined ? 1 : 0)
  await second.audited.close()
  // What was unknown for a while is not forgotten.
  const third = await auditIn(store, prefix, 'three')
  expect(third.wiped).toEqual([expect.stringContaining('this one is three')])
})

it('faults are acknowledged by id or up to a time, once, and it is kept with the accounts', async () => {
  const store = memoryStore()
  const first = await auditIn(store, 'a.', 'one')
  const value = codecs.definition.encode({ schedule: { at: beganMs + 1_000 }, target: { handler: 'x' } })
  const place = { topic: first.names.jobs, partition: 0, timestampMs: beganMs, byBroker: true }
  const records = ['a', 'b', 'c'].map((id, offset) => ({ ...place, offset, key: Buffer.from(id), value, headers: {} }))
  await first.audited.take(first.names.jobs, records)
  await first.judge(3, beganMs + 600_000)
  expect(first.found).toHaveLength(3)
  const ids = first.audited.proof().recent.map(({ no }) => `0.${no}`)
  expect(ids).toEqual(['0.3', '0.2', '0.1'])
  const said = { by: 'ann', at: 7, reason: 'drill' }
  expect(await first.audited.acknowledge({ ids: ['0.2', '1.3', '0.9'] }, said)).toBe(1)
  expect(await first.audited.acknowledge({ ids: ['0.2'] }, { ...said, by: 'bob' })).toBe(0)
  await first.audited.close()

  const { audited } = await auditIn(store, 'a.', 'one')
  expect(audited.proof()).toMatchObject({ findings: { overdue: 3 }, acknowledged: { overdue: 1 } })
  expect(audited.proof().recent.map(({ acknowledged }) => acknowledged)).toEqual([undefined, said, undefined])
  expect(await audited.acknowledge({ upTo: beganMs - 1 }, said)).toBe(0)
  expect(await audited.acknowledge({ upTo: beganMs }, said)).toBe(2)
  expect(audited.proof().acknowledged).toEqual(expect.objectContaining({ overdue: 3 }))
})
