/** Under which number what a run was made with is kept, and how long. */
import { describe, expect, it } from 'vitest'
import { snapshotNoIn, snapshotNosOf } from '../../../streams/runs/snapshots.ts'
import { JobHistory } from './history.ts'

const second = { schedule: { everyMs: 1_000 }, maxConcurrentRuns: 9, retry: { maxAttempts: 1 } }
/** Runs 1 to 3 of one definition, which was replaced while they were active. */
const replaced = (): JobHistory => new JobHistory().define(second).until(3_000).define(second)

describe('what runs were made with', () => {
  it('is that of the definition in force, and nothing is kept, until that is replaced', () => {
    const job = new JobHistory().define(second).until(3_000)
    expect([1, 2, 3].map((runNo) => snapshotNoIn(job.job, runNo))).toEqual([undefined, undefined, undefined])
    expect([snapshotNosOf(job.state), job.snapshots.size]).toEqual([[], 0])
  })
  it('is kept once for all runs of a definition that was replaced, and goes with the last of them', () => {
    const job = replaced().until(4_000)
    expect([1, 2, 3, 4].map((runNo) => snapshotNoIn(job.job, runNo))).toEqual([1, 1, 1, undefined])
    expect(snapshotNosOf(job.state)).toEqual([1])
    for (const runNo of [1, 3]) expect(job.report('SUCCEEDED', { runNo }).last.snapshotDeletes).toEqual([])
    expect(snapshotNoIn(job.job, 2)).toBe(1)
    expect(job.report('SUCCEEDED', { runNo: 2 }).last.snapshotDeletes).toEqual([1])
    expect(job.snapshots.size).toBe(0)
  })
  it('is kept apart for each run that is dead, and for no other that has ended', () => {
    const job = replaced()
    job.fail('Error', {}, { runNo: 2 }).report('SUCCEEDED', { runNo: 1 })
    expect([1, 2, 3, 9].map((runNo) => snapshotNoIn(job.job, runNo))).toEqual([undefined, 2, 1, undefined])
    expect(snapshotNosOf(job.state).toSorted()).toEqual([1, 2])
    expect([...job.snapshots.keys()].toSorted()).toEqual([1, 2])
    job.report('SUCCEEDED', { runNo: 3 })
    expect([...job.snapshots.keys()]).toEqual([2])
  })
  it('is that of its payload where a trigger brought one', () => {
    const job = new JobHistory().define(second).command('TRIGGER', { payload: Buffer.from('p') })
    expect(snapshotNoIn(job.job, 1)).toBe(1)
    expect(job.report('SUCCEEDED').snapshots.size).toBe(0)
  })
  it('is nothing of a job that has no state', () => {
    expect(snapshotNoIn(new JobHistory().define(second).job, 1)).toBeUndefined()
  })
})
