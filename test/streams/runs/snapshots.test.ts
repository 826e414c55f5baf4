/** The run number under which a snapshot is kept, and how long it is kept. */
import { describe, expect, it } from 'vitest'
import { snapshotNoIn, snapshotNosOf } from '../../../streams/runs/snapshots.ts'
import { JobHistory } from './history.ts'

const second = { schedule: { everyMs: 1_000 }, maxConcurrentRuns: 9, retry: { maxAttempts: 1 } }
/** Runs 1 to 3 of one definition, which was replaced while they were active. */
const replaced = (): JobHistory => new JobHistory().define(second).until(3_000).define(second)

describe('snapshots', () => {
  it('are not kept while the definition is in force', () => {
    const job = new JobHistory().define(second).until(3_000)
    expect([1, 2, 3].map((runNo) => snapshotNoIn(job.job, runNo))).toEqual([undefined, undefined, undefined])
    expect([snapshotNosOf(job.state), job.snapshots.size]).toEqual([[], 0])
  })
  it('are kept once for all runs of a replaced definition, until the last of them ends', () => {
    const job = replaced().until(4_000)
    expect([1, 2, 3, 4].map((runNo) => snapshotNoIn(job.job, runNo))).toEqual([1, 1, 1, undefined])
    expect(snapshotNosOf(job.state)).toEqual([1])
    for (const runNo of [1, 3]) expect(job.report('SUCCEEDED', { runNo }).last.snapshotDeletes).toEqual([])
    expect(snapshotNoIn(job.job, 2)).toBe(1)
    expect(job.report('SUCCEEDED', { runNo: 2 }).last.snapshotDeletes).toEqual([1])
    expect(job.snapshots.size).toBe(0)
  })
  it('are kept separately for each dead run, and for no other ended run', () => {
    const job = replaced()
    job.fail('Error', {}, { runNo: 2 }).report('SUCCEEDED', { runNo: 1 })
    expect([1, 2, 3, 9].map((runNo) => snapshotNoIn(job.job, runNo))).toEqual([undefined, 2, 1, undefined])
    expect(snapshotNosOf(job.state).toSorted()).toEqual([1, 2])
    expect([...job.snapshots.keys()].toSorted()).toEqual([1, 2])
    job.report('SUCCEEDED', { runNo: 3 })
    expect([...job.snapshots.keys()]).toEqual([2])
  })
  it('contain the payload of a trigger', () => {
    const job = new JobHistory().define(second).command('TRIGGER', { payload: Buffer.from('p') })
    expect(snapshotNoIn(job.job, 1)).toBe(1)
    expect(job.report('SUCCEEDED').snapshots.size).toBe(0)
  })
  it('do not exist for a job without a state', () => {
    expect(snapshotNoIn(new JobHistory().define(second).job, 1)).toBeUndefined()
  })
})
