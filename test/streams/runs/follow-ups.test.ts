/** Jobs that are triggered when a run of another job ends. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { JobHistory } from './history.ts'

const chained = (more: Partial<JobDefinitionInput> = {}): JobHistory =>
  new JobHistory()
    .define({
      schedule: { everyMs: 1_000 },
      overlap: 'SKIP',
      retry: { maxAttempts: 2 },
      onSuccess: ['a', 'b'],
      onFailure: ['alarm'],
      ...more,
    })
    .until(1_000)
const triggered = (job: JobHistory): string[] => job.out.flatMap((output) => (output.kind === 'trigger' ? [output.jobId] : []))

describe('a run that has ended', () => {
  it.each<[string, (job: JobHistory) => unknown, string[]]>([
    ['succeeded triggers onSuccess', (job) => job.report('SUCCEEDED'), ['a', 'b']],
    ['is dead triggers onFailure', (job) => job.fail('Error', { retryable: false }), ['alarm']],
    ['expired triggers onFailure', (job) => job.until(90_000_000), ['alarm']],
    ['was cancelled triggers nothing', (job) => job.command('CANCEL_RUN', { runNo: 1 }), []],
    ['was cancelled with its job triggers nothing', (job) => job.command('CANCEL'), []],
  ])('and %s', (_, end, expected) => {
    const job = chained({ endAt: 1_000 })
    end(job)
    expect(triggered(job)).toEqual(expected)
  })
  it('triggers in the decision that ends it, so both are logged or neither', () => {
    const job = chained().until(1_400).report('SUCCEEDED')
    expect(job.last.job.state?.succeeded).toBe(1)
    expect(job.last.out).toEqual([
      { kind: 'trigger', jobId: 'a', commandId: 'after:job/1@0-0', at: 1_400, chainDepth: 1, chainLeft: 2_499 },
      { kind: 'trigger', jobId: 'b', commandId: 'after:job/1@0-0', at: 1_400, chainDepth: 1, chainLeft: 2_499 },
    ])
  })
  it('triggers once: later reports of its worker are stale', () => {
    expect(triggered(chained().report('SUCCEEDED').report('SUCCEEDED').fail())).toEqual(['a', 'b'])
  })
  it('triggers for any kind of run', () => {
    const job = chained({ schedule: { at: 900_000 } })
      .command('TRIGGER')
      .fail('Error', { retryable: false })
      .command('REDRIVE', { runNo: 1 })
    expect(triggered(job.report('SUCCEEDED'))).toEqual(['alarm', 'a', 'b'])
  })
  it('triggers the followers of the definition in force', () => {
    const job = chained()
      .define({ schedule: { everyMs: 1_000 }, onSuccess: ['c'] })
      .report('SUCCEEDED')
    expect(triggered(job)).toEqual(['c'])
  })
  it('gives each run of the job, also of a later one of the same id, a command of its own', () => {
    const job = chained().report('SUCCEEDED').until(2_000).report('SUCCEEDED').remove()
    job
      .define({ schedule: { everyMs: 1_000 }, onSuccess: ['a'] })
      .until(3_000)
      .report('SUCCEEDED')
    const ids = job.out.flatMap((output) => (output.kind === 'trigger' && output.jobId === 'a' ? [output.commandId] : []))
    expect(ids).toEqual(['after:job/1@0-0', 'after:job/2@0-0', expect.stringMatching(/^after:job\/1@2-/)])
  })
})

describe('a run that has not ended', () => {
  it.each<[string, (job: JobHistory) => unknown]>([
    ['started', (job) => job.report('STARTED')],
    ['waits for a retry', (job) => job.fail()],
    ['was given back', (job) => job.report('RELEASED')],
  ])('but %s triggers nothing', (_, act) => {
    const job = chained()
    act(job)
    expect(triggered(job)).toEqual([])
  })
  it('a skipped occurrence triggers nothing either', () => {
    expect(triggered(chained().until(3_000))).toEqual([])
  })
})

describe('a job that follows', () => {
  it('runs, names its trigger, and runs once however often the command comes', () => {
    const job = new JobHistory().define({ schedule: { at: 900_000 } })
    const command = { trigger: 'FOLLOW_UP', commandId: 'after:other/1@0-0' } as const
    job.command('TRIGGER', command).command('TRIGGER', command).report('SUCCEEDED').command('TRIGGER', command)
    expect(job.dispatched).toMatchObject([{ runNo: 1, trigger: 'FOLLOW_UP' }])
    expect(job.state).toMatchObject({ scheduledRuns: 0, succeeded: 1, nextFireAt: 900_000 })
  })
})
