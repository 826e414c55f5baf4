/** A job whose topic does not exist when it is defined. When the topic exists, the job becomes what it would have been. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { invalidated } from '../../../streams/jobs/step.ts'
import { JobHistory } from '../runs/history.ts'

const missing = 'Topic out does not exist.'

/** A job that is defined now. Its topic exists when `topic.there` is true. */
function defined(definition: Partial<JobDefinitionInput> = {}) {
  const topic = { there: false, asked: 0 }
  const topicProblem = (): string | undefined => {
    topic.asked++
    return topic.there ? undefined : missing
  }
  const target = { topic: { name: 'out' } }
  const job = new JobHistory({ topicProblem }).define({ schedule: { everyMs: 10_000 }, target, ...definition })
  return { job, topic, target }
}

describe('a job whose pool has no topics', () => {
  it('is INVALID, and ACTIVE at the first check that finds them', () => {
    const pools = new Set(['default'])
    const poolProblem = (pool: string): string | undefined => (pools.has(pool) ? undefined : `Pool ${pool} has no topics.`)
    const job = new JobHistory({ poolProblem }).define({ schedule: { at: 1_000 }, target: { handler: 'noop', pool: 'gpu' } })
    expect(job.until(4_000).state).toMatchObject({ status: 'INVALID', reason: 'Pool gpu has no topics.' })
    expect(job.dispatched).toEqual([])
    pools.add('gpu')
    job.until(5_000)
    expect(job.dispatched.map(({ pool }) => pool)).toEqual(['gpu'])
  })
})

describe('when some missing topic has appeared', () => {
  it('a job that waited for it goes on at once, and a paused one stays paused', () => {
    const { job, topic } = defined()
    job.until(60_000)
    topic.there = true
    expect(job.followTargets().state).toMatchObject({ status: 'ACTIVE', reason: null, recheckAt: null })
    const paused = defined({ paused: true })
    paused.topic.there = true
    expect(paused.job.followTargets().state).toMatchObject({ status: 'PAUSED', recheckAt: null })
  })
  it('a job that waits for another one keeps the time of its next check', () => {
    const { job } = defined()
    const { state } = job.until(60_000)
    expect(job.followTargets().state).toBe(state)
  })
  it('a job that is INVALID for another reason stays so', () => {
    const job = new JobHistory().define({ schedule: { everyMs: 10_000 }, target: { handler: 'noop' } }).until(10_000)
    job.job = invalidated(job.job, 'A rule failed.', job.now).job
    const { state } = job
    expect(state.status).toBe('INVALID')
    expect(job.followTargets().state).toBe(state)
  })
})

describe('a job whose topic is missing', () => {
  it('is INVALID and fires nothing', () => {
    const { job } = defined()
    expect(job.state).toMatchObject({ status: 'INVALID', reason: missing })
    expect(job.until(60_000).state).toMatchObject({ status: 'INVALID', runNo: 0 })
    expect(job.out).toEqual([])
  })
  it('is checked less and less often, for ever', () => {
    const { job, topic } = defined()
    const looks = (time: number): number => {
      topic.asked = 0
      job.until(time)
      return topic.asked
    }
    expect(looks(4_999)).toBe(0)
    expect(looks(5_000)).toBe(1)
    expect(looks(3_600_000)).toBe(11)
    expect(looks(86_400_000)).toBe(138)
  })
  it('is ACTIVE at the first check that finds it, and overdue occurrences follow catchUp', () => {
    const { job, topic } = defined()
    topic.there = true
    expect(job.until(5_000).state).toMatchObject({ status: 'ACTIVE', reason: null, recheckAt: null, nextFireAt: 10_000 })
    const late = defined({ catchUp: 'SKIP' })
    late.job.until(30_000)
    late.topic.there = true
    expect(late.job.until(60_000).state).toMatchObject({ status: 'ACTIVE', skipped: 3, succeeded: 3 })
  })
  it('writes the one record of an instant that has passed meanwhile', () => {
    const { job, topic } = defined({ schedule: { at: 1_000 } })
    job.until(8_000)
    topic.there = true
    expect(job.until(60_000).state).toMatchObject({ status: 'COMPLETED', succeeded: 1 })
    expect(job.out.filter(({ kind }) => kind === 'record')).toHaveLength(1)
  })
  it('is COMPLETED when its time is over by then', () => {
    const { job, topic } = defined({ expireAt: 8_000 })
    job.until(9_000)
    topic.there = true
    expect(job.until(60_000).state).toMatchObject({ status: 'COMPLETED', skipped: 1, runNo: 0 })
  })
  it.each<[string, (job: JobHistory) => unknown]>([
    ['its definition', () => 0],
    ['a command', (job) => job.command('PAUSE')],
  ])('is PAUSED instead if %s says so', (by, act) => {
    const { job, topic } = defined({ paused: by === 'its definition' })
    act(job)
    topic.there = true
    expect(job.until(60_000).state).toMatchObject({ status: 'PAUSED', runNo: 0 })
  })
  it('is checked again after a new definition, and not with another target', () => {
    const { job, topic } = defined()
    topic.there = true
    expect(job.until(1_000).define({ schedule: { everyMs: 10_000 }, target: { topic: { name: 'out' } } }).state.status).toBe(
      'ACTIVE',
    )
    const other = defined()
    other.job.until(1_000).define({ schedule: { everyMs: 10_000 } })
    expect(other.job.state).toMatchObject({ status: 'ACTIVE', recheckAt: null })
    const broken = defined()
    broken.job.until(1_000).garble()
    broken.topic.there = true
    expect(broken.job.until(60_000).state).toMatchObject({ status: 'INVALID', recheckAt: null })
  })
  it('is deleted like any other', () => {
    const { job } = defined()
    expect(job.until(7_000).remove().until(60_000).job).toEqual({ id: 'job' })
  })
})
