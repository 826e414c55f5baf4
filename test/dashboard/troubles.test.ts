import { expect, it } from 'vitest'
import type { Counts, PartitionState, StatsMessage } from '../../src/dashboard/model/answers.ts'
import type { Rates } from '../../src/dashboard/model/rates.ts'
import { stoppedOf, troublesOf } from '../../src/dashboard/model/troubles.ts'

const fine: PartitionState = {
  ...{ partition: 0, phase: 'active', restoreRemaining: 0, mailboxDepth: 0, jobsOffset: 0, overdueMs: 0, restoreTotal: 0 },
  ...{ underWay: { dispatched: 0, running: 0, waiting: 0 }, instance: 'a@b:1:c', url: null },
}
const pulse = (at: number, dead: number, partitions: Partial<PartitionState>[] = [{}]): StatsMessage => ({
  at,
  counts: { ended: { DEAD: dead } } as unknown as Counts,
  partitions: partitions.map((state, partition) => ({ ...fine, partition, ...state })),
})
const texts = (kept: StatsMessage[], p99Ms = 5): string[] => troublesOf(kept, { p99Ms } as Rates).map(({ text }) => text)

it('says nothing when all is well, or nothing is known', () => {
  expect(texts([])).toEqual([])
  expect(texts([pulse(0, 3), pulse(60_000, 3)])).toEqual([])
})

it('names the partitions that nobody fires, and those that are late', () => {
  const states = [
    { instance: null, phase: 'closed' },
    { phase: 'restoring' },
    { overdueMs: 12_000 },
    { overdueMs: 90_000 },
  ] as const
  expect(texts([pulse(0, 0, [...states])])).toEqual([
    'Partition 0: no process owns it, so nothing of it fires.',
    'Partition 1: being taken over or restored.',
    'Partitions 2, 3: what is due waits for its owner, the oldest for 1 min 30 s.',
  ])
})

it('names the partitions whose owner does not trust its clock, and says what to do, once', () => {
  const problem = 'The wall clock of this machine was set. Check its time service.'
  const other = 'The wall clock of this machine is 5001 ms ahead of the brokers.'
  const kept = [pulse(0, 0, [{}, { problem }, { problem: other }, { problem: null }, { problem: other, instance: 'b@c:1:d' }])]
  const expected = [
    `Partitions 1, 2 of a@b:1:c: nothing fires, and no change is applied. ${problem}`,
    `Partition 4 of b@c:1:d: nothing fires, and no change is applied. ${other}`,
  ]
  expect(texts(kept)).toEqual(expected)
  expect(stoppedOf(kept[0] as StatsMessage).map(({ text }) => text)).toEqual(expected)
})

it('tells of owners that go by different time zone rules', () => {
  const [old, young] = [{ zoneRules: '2025b' }, { zoneRules: '2026a' }]
  expect(texts([pulse(0, 0, [young, young, {}])])).toEqual([])
  expect(texts([pulse(0, 0, [young, old, young, {}])])).toEqual([
    'Owners go by different time zone rules: 2025b (partition 1), 2026a (partitions 0, 2). Run all of them with the same Node.',
  ])
})

it('tells for a day of a log that was truncated, or lost records unread', () => {
  const lastReset = { topic: 'duelog.job-commands', from: 7, to: 0, reason: 'beyond-end', at: 1_000 } as const
  const expired = { ...lastReset, to: 20, reason: 'expired' } as const
  expect(texts([pulse(2_000, 0, [{ lastReset: null }, { lastReset }, { lastReset: expired }])])).toEqual([
    'Partition 1: duelog.job-commands was truncated, or made anew, and is read from 0 on instead of 7. Send again what is missing.',
    'Partition 2: duelog.job-commands lost records that had not been read, and is read from 20 on instead of 7. Send again what is missing.',
  ])
  expect(texts([pulse(86_401_000, 0, [{ lastReset }])])).toEqual([])
})

it('tells of a job-state that was lost, and of one that was logged again', () => {
  const lastReset = { topic: 'duelog.job-state', from: 7, to: 0, reason: 'beyond-end', at: 1_000 } as const
  expect(texts([pulse(2_000, 0, [{ lastReset }, { lastReset: { ...lastReset, reason: 'lost' } }])])).toEqual([
    'Partition 0: duelog.job-state was truncated, or made anew; its owner has logged again all that was decided.',
    'Partition 1: duelog.job-state lost all that was decided; jobs began anew from their definitions.',
  ])
})

it('tells of a transaction that holds up a partition', () => {
  const openTransaction = { topic: 'duelog.jobs', offset: 7, records: 3, since: 1_000 }
  expect(texts([pulse(121_000, 0, [{ openTransaction: null }, { openTransaction }])])).toEqual([
    'Partition 1: a transaction in duelog.jobs has been open for 2 min, and 3 records from offset 7 on wait for its end. Stop who has it open, or abort it with kafka-transactions.sh.',
  ])
})

it('tells of late starts, and of runs that were given up since the page was opened', () => {
  expect(texts([pulse(0, 3), pulse(60_000, 5)], 2_500)).toEqual([
    'One start in a hundred is more than 2.5 s late.',
    '2 runs given up in the last 1 min.',
  ])
})

it('tells first of faults that the audit found', () => {
  const audited = (found: number) => ({ ...pulse(60_000, 0), proof: { found, audited: 1, judgedUntil: 50_000 } })
  expect(texts([pulse(0, 0), audited(0)])).toEqual([])
  expect(texts([pulse(0, 0), { ...pulse(60_000, 0), proof: null }])).toEqual([])
  expect(texts([pulse(0, 0), audited(2)], 2_500)).toEqual([
    'The audit of the log found 2 faults.',
    'One start in a hundred is more than 2.5 s late.',
  ])
})

it('counts nothing from before a process ended', () => {
  expect(texts([pulse(0, 3), pulse(60_000, 0)])).toEqual([])
})
