/** Whether a process should go on: what /livez and /readyz say. */
import { describe, expect, it } from 'vitest'
import type { PartitionView } from '../../src/ground/ports/owner-views.ts'
import { ProcessHealth } from '../../src/program/system/health.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'

const view = (partition: number, phase: PartitionView['phase']): PartitionView => ({
  ...{ partition, phase, restoreRemaining: phase === 'restoring' ? 7 : 0, mailboxDepth: 0, jobsOffset: 0 },
  ...{ restoreTotal: 7, commandsOffset: 0, eventsOffset: 0, overdueMs: 0 },
  underWay: { dispatched: 0, running: 0, waiting: 0, withoutHandler: 0, inPausedPools: 0 },
})
const scheduler = (active: boolean, views: PartitionView[], hanging: number[] = []): Scheduler =>
  ({ active, hanging, queries: { partitions: () => views } }) as unknown as Scheduler

describe('a process', () => {
  it('lives and is ready without a scheduler, or when all of its partitions fire', () => {
    for (const found of [undefined, scheduler(true, [view(0, 'active')])])
      expect(new ProcessHealth(() => {}).health(found)).toEqual({ live: true, ready: true, reasons: [] })
  })
  it('lives while a partition restores or the group has not answered, however long that takes, and is not ready', () => {
    expect(new ProcessHealth(() => {}).health(scheduler(false, [view(0, 'active'), view(3, 'restoring')]))).toEqual({
      ...{ live: true, ready: false },
      reasons: ['Partition 3 is restoring, 7 records to read.'],
    })
    expect(new ProcessHealth(() => {}).health(scheduler(false, []))).toMatchObject({
      ...{ live: true, ready: false, reasons: ['The scheduler has not joined its group yet.'] },
    })
  })
  it('lives while its clock is not trusted, and is not ready', () => {
    const reasons = ['The wall clock of this machine was set.']
    for (const found of [undefined, scheduler(true, [view(0, 'active')])])
      expect(new ProcessHealth(() => {}).health(found, reasons[0])).toEqual({ live: true, ready: false, reasons })
  })
  it('does not live when a part of it has ended for good, whatever still runs', () => {
    const told: string[] = []
    const vitals = new ProcessHealth(({ message }) => told.push(message))
    vitals.died(new Error('The group reader cannot go on.'))
    vitals.died(new Error('And more.'))
    expect(told).toEqual(['The group reader cannot go on.', 'And more.'])
    expect(vitals.health(scheduler(true, [view(0, 'active')]))).toEqual({
      ...{ live: false, ready: false },
      reasons: ['A part of this process has ended and will not start again: The group reader cannot go on.'],
    })
  })
  it('lives while a part of it cannot work, and is not ready meanwhile', () => {
    let problem: string | undefined = 'A right is missing.'
    const vitals = new ProcessHealth(() => {})
    vitals.watch(() => problem)
    const active = scheduler(true, [view(0, 'active')])
    expect(vitals.health(active)).toEqual({ live: true, ready: false, reasons: ['A right is missing.'] })
    problem = undefined
    expect(vitals.health(active)).toEqual({ live: true, ready: true, reasons: [] })
  })
  it('does not live when a partition hangs in a commit cycle', () => {
    expect(new ProcessHealth(() => {}).health(scheduler(true, [view(2, 'active')], [2]))).toMatchObject({
      ...{ live: false, ready: false, reasons: [expect.stringMatching(/^Partition 2 has been in one commit cycle/)] },
    })
  })
})
