/** The identity of a run for handlers and receivers: the same for each attempt, different for each run of each life of a job. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jobStateSchema } from '../../../schemas/generated.ts'
import { avroType } from '../../../src/kafka/avro/avro-type.ts'
import { executionIdOf, lifeOf } from '../../../streams/state/run-identity.ts'
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
  it('is unchanged for a job with a state of an earlier version', () => {
    const job = new JobHistory().define(everySecond).until(1_000)
    // As the codec reads a record without this field.
    job.job = { ...job.job, state: { ...job.state, life: '' } }
    job.fail('Error', { retryAfterMs: 0 }).until(2_000)
    expect(ids(job).slice(1)).toEqual(['job/1', 'job/2'])
    // The next life has a name.
    job.remove().define(everySecond).until(3_000)
    expect(ids(job).at(-1)).toBe(`job/1@2-${(2_000).toString(36)}`)
  })
  it('has an empty life for a state of an earlier version', () => {
    const withoutLife = JSON.parse(JSON.stringify(jobStateSchema)) as Entry
    const fields = withoutLife.fields.find(({ name }) => name === 'state')?.type[1]?.fields ?? []
    fields.splice(
      fields.findIndex(({ name }) => name === 'life'),
      1,
    )
    const before = avroType(withoutLife)
    const now = avroType(jobStateSchema)
    const bytes = before.toBuffer({ state: { status: 'ACTIVE', specOffset: 4, runNo: 7 } })
    expect(now.fromBuffer(bytes, now.createResolver(before))).toMatchObject({ state: { life: '', specOffset: 4, runNo: 7 } })
  })
  it('never equals that of another run, whatever the ids', () => {
    const piece = fc.oneof(fc.constantFrom('/', '@', '1', '/1', '@0-0', '1@0-0', 'a'), fc.string({ maxLength: 3 }))
    const jobId = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''))
    const life = fc.oneof(
      fc.constant(''),
      fc.tuple(fc.nat(9), fc.nat(99)).map(([offset, appendedAt]) => lifeOf({ offset, appendedAt })),
    )
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

interface Entry {
  fields: { name: string; type: { fields?: { name: string }[] }[] }[]
}
