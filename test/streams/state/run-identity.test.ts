/** The identity of a run for handlers and receivers: the same for each attempt, different for each run of each life of a job. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { executionIdOf, lifeOf } from '../../../streams/state/job.ts'
import { JobHistory } from '../runs/history.ts'

const everySecond = { schedule: { everyMs: 1_000 } }
const ids = (job: JobHistory): string[] => job.dispatched.map(executionIdOf)

describe('the identity of a run', () => {
  it('is the same for its attempts, and another in a later life of the job', () => {
    const job = new JobHistory().define({ retry: { backoff: { list: [0] } } }).until(1_000)
    job.fail().report('SUCCEEDED').remove()
    job.define({ schedule: { at: 2_000 } }).until(2_000)
    expect(job.dispatched.map(({ runNo }) => runNo)).toEqual([1, 1, 1])
    expect(ids(job)).toEqual(['job/1@0-0', 'job/1@0-0', `job/1@2-${(1_000).toString(36)}`])
  })
  it('keeps its life through new definitions, redrives and a deletion without effect', () => {
    const job = new JobHistory().define(everySecond).until(1_000)
    job.define({ ...everySecond, payload: Buffer.from('x') }).fail('Error', { retryable: false })
    job.command('REDRIVE', { runNo: 1 }).remove({ observedOffset: 0 }).until(2_000)
    expect(ids(job)).toEqual(['job/1@0-0', 'job/2@0-0', 'job/3@0-0'])
  })
  it('is another if jobs was recreated, so that offsets repeat', () => {
    expect(lifeOf({ offset: 3, appendedAt: 1 })).not.toBe(lifeOf({ offset: 3, appendedAt: 2 }))
  })
  it('never equals that of another run, whatever the ids', () => {
    const piece = fc.oneof(fc.constantFrom('/', '@', '1', '/1', '@0-0', '1@0-0', 'a'), fc.string({ maxLength: 3 }))
    const jobId = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''))
    const life = fc.tuple(fc.nat(9), fc.nat(99)).map(([offset, appendedAt]) => lifeOf({ offset, appendedAt }))
    const run = fc.record({ jobId, runNo: fc.integer({ min: 1, max: 20 }), life })
    const check = fc.property(run, run, (one, other) => {
      const same = one.jobId === other.jobId && one.runNo === other.runNo && one.life === other.life
      expect(executionIdOf(one) === executionIdOf(other)).toBe(same)
      // As docs/PROTOCOL.md says: split at the last slash.
      const id = executionIdOf(one)
      expect(id.slice(0, id.lastIndexOf('/'))).toBe(one.jobId)
    })
    fc.assert(check, { numRuns: 5_000, seed: 1 })
  })
  it('is part of the commands of follow-ups', () => {
    const job = new JobHistory()
      .define({ onSuccess: ['next'] })
      .until(1_000)
      .report('SUCCEEDED')
    expect(job.last.out).toMatchObject([{ kind: 'trigger', commandId: 'after:job/1@0-0' }])
  })
})
