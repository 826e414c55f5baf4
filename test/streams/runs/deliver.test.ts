/** Runs whose target is a topic: when they are written, when they wait, and when they are given up. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { step } from '../../../streams/jobs/step.ts'
import type { Context, Decision, Job } from '../../../streams/state/job.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { definitionOf } from '../jobs/samples.ts'
import { JobHistory } from './history.ts'

const at = 1_900_000_000_000
const context = (now: number, problem?: string): Context => ({
  now,
  leadMs: 100,
  aheadFrom: 0,
  eventsReadUntil: now,
  limits: { slots: () => ({ held: 0, waiting: 0 }), starts: () => undefined },
  topicProblem: () => problem,
  poolProblem: () => undefined,
  seenAt: () => 0,
})

const jobOf = (more: Partial<JobDefinitionInput> = {}): Job => ({
  id: 'a',
  definition: {
    offset: 5,
    appendedAt: at - 10_000,
    bytes: Buffer.alloc(0),
    spec: definitionOf({ target: { topic: { name: 'orders' } }, startDeadlineMs: 60_000, ...more }),
  },
})
const due = (job: Job, now: number, problem?: string): Decision =>
  step(job, { kind: 'timer', timer: { dueAt: at, kind: timerKind.fire, jobId: 'a', runNo: 0 } }, context(now, problem))

describe('a run whose target is a topic', () => {
  it('is put off if it comes a millisecond early; at its time it is written and has succeeded', () => {
    for (const now of [at - 10_000, at - 100, at - 1]) expect(due(jobOf(), now)).toMatchObject({ deferUntil: at, out: [] })
    const { out, job } = due(jobOf(), at)
    expect(out).toMatchObject([{ kind: 'record', record: { topic: 'orders', key: 'a', partition: null } }])
    expect(job.state).toMatchObject({ status: 'COMPLETED', runNo: 1, succeeded: 1, active: [], lastRun: { status: 'SUCCEEDED' } })
  })
  it('waits while its topic cannot be written, shows the reason, and is written later', () => {
    const waiting = due(jobOf(), at, 'gone')
    expect(waiting.out).toEqual([])
    const [run] = waiting.job.state?.active ?? []
    expect(run).toMatchObject({ status: 'RETRY_WAIT', parked: true, errors: [{ type: 'TopicUnavailable', message: 'gone' }] })
    const timer = { dueAt: run?.tellAt ?? 0, kind: timerKind.retry, jobId: 'a', runNo: 1 }
    const early = step(waiting.job, { kind: 'timer', timer }, context(timer.dueAt - 1))
    expect(early.deferUntil).toBe(timer.dueAt)
    const { out, job } = step(waiting.job, { kind: 'timer', timer }, context(timer.dueAt))
    expect(out).toMatchObject([{ kind: 'record', scheduledFor: at }])
    expect(job.state).toMatchObject({ status: 'COMPLETED', succeeded: 1 })
  })
  it('expires if its topic stays missing beyond the start deadline', () => {
    let decision = due(jobOf(), at, 'gone')
    let checkAt = decision.job.state?.active[0]?.tellAt ?? 0
    for (let checks = 0; checks < 3 && decision.job.state?.active.length === 1; checks++) {
      const timer = { dueAt: checkAt, kind: timerKind.retry, jobId: 'a', runNo: 1 }
      decision = step(decision.job, { kind: 'timer', timer }, context(checkAt, 'gone'))
      checkAt = decision.extraTimers[0]?.dueAt ?? checkAt
    }
    expect(decision.job.state?.lastRun).toMatchObject({
      status: 'EXPIRED',
      finishedAt: at + 60_000,
      errors: [{ message: 'gone' }],
    })
    expect(decision.job.state?.decisions).toMatchObject([{ what: 'EXPIRED', reason: 'topic-unavailable', runNo: 1 }])
  })
  it('expires too if its topic comes back after the start deadline, and shows the earlier reason', () => {
    const waiting = due(jobOf(), at, 'gone')
    const timer = { dueAt: waiting.job.state?.active[0]?.tellAt ?? 0, kind: timerKind.retry, jobId: 'a', runNo: 1 }
    const { job, out } = step(waiting.job, { kind: 'timer', timer }, context(at + 60_000))
    expect(out).toEqual([])
    expect(job.state?.lastRun).toMatchObject({ status: 'EXPIRED', errors: [{ at, message: 'gone' }] })
  })
  it('remembers its last five reasons, each with the time since which it holds', () => {
    let { job } = due(jobOf({ startDeadlineMs: 3_600_000 }), at, 'first')
    const reasons = ['first', 'second', 'second', 'first', 'third', 'third', 'fourth', 'fifth']
    for (const [index, reason] of reasons.entries()) {
      const now = at + (index + 1) * 1_000_000
      job = step(
        job,
        { kind: 'timer', timer: { dueAt: now, kind: timerKind.retry, jobId: 'a', runNo: 1 } },
        context(now, reason),
      ).job
      if (now >= at + 3_600_000) break
    }
    const errors = job.state?.lastRun?.errors.map(({ message, at: metAt }) => [message, (metAt - at) / 1_000_000])
    expect(errors).toEqual([
      ['first', 0],
      ['second', 2],
      ['first', 4],
    ])
  })
  it('keeps its payload and topic if its definition is replaced while it waits', () => {
    const waiting = due(jobOf({ payload: Buffer.from('old') }), at, 'gone')
    const definition = { ...jobOf({ target: { handler: 'noop' } }).definition, offset: 9 } as NonNullable<Job['definition']>
    const replaced = step(waiting.job, { kind: 'definition', definition }, context(at + 1))
    const [kept] = replaced.snapshotPuts
    expect(kept?.topicTarget?.name).toBe('orders')
    const job = { ...replaced.job, snapshots: new Map([[1, kept as NonNullable<typeof kept>]]) }
    const timer = { dueAt: job.state?.active[0]?.tellAt ?? 0, kind: timerKind.retry, jobId: 'a', runNo: 1 }
    const { out } = step(job, { kind: 'timer', timer }, context(timer.dueAt))
    expect(out).toMatchObject([{ kind: 'record', record: { topic: 'orders', value: Buffer.from('old') } }])
  })
})

describe('a job whose topic cannot be written to', () => {
  it('is INVALID with the reason from its definition, also in a rebuilt store', () => {
    const { definition } = jobOf()
    const input = { kind: 'definition' as const, definition: definition as NonNullable<typeof definition> }
    const { job } = step({ id: 'a' }, input, context(at - 5_000, 'gone'))
    expect(job.state).toMatchObject({ status: 'INVALID', reason: 'gone', specOffset: 5, nextFireAt: at })
    expect(step({ id: 'a' }, input, context(at - 5_000)).job.state).toBeUndefined()
    const restored = step({ id: 'a', state: job.state }, { ...input, decided: true }, context(at))
    expect(restored.job.state).toBe(job.state)
    const again = { ...input, definition: { ...input.definition, offset: 8 } }
    expect(step(job, again, context(at - 4_000)).job.state).toMatchObject({ status: 'ACTIVE', nextFireAt: at, reason: null })
  })
})

describe('a topic that is away for a day', () => {
  const day = 86_400_000
  const waiting = () => {
    const topic: { problem: string | undefined } = { problem: undefined }
    const history = new JobHistory({ topicProblem: () => topic.problem })
    history.define({ schedule: { at: 1_000 }, target: { topic: { name: 'orders' } }, startDeadlineMs: 2 * day })
    topic.problem = 'Topic orders does not exist.'
    history.until(2_000)
    return { history, topic }
  }
  it('costs one logged state for a run, and a check each ten minutes', () => {
    const { history } = waiting()
    const { state } = history
    const before = history.decisions.length
    expect(history.until(day).state).toBe(state)
    expect(history.decisions.length - before).toBeGreaterThan(day / 600_000 - 2)
    expect(history.decisions.length - before).toBeLessThan(day / 600_000 + 10)
  })
  it('ends with the record at once when the owner learns that it is there', () => {
    const { history, topic } = waiting()
    history.until(day)
    topic.problem = undefined
    expect(history.followWorkers().state.lastRun).toMatchObject({ status: 'SUCCEEDED', finishedAt: day })
  })
  it('ends with the record at the next check otherwise, also for a new owner', () => {
    const { history, topic } = waiting()
    history.until(day)
    topic.problem = undefined
    history.restore().until(day + 600_000)
    expect(history.state.lastRun).toMatchObject({ status: 'SUCCEEDED' })
  })
  it('and is then unavailable for another reason, shows both', () => {
    const { history, topic } = waiting()
    topic.problem = 'The record is too large.'
    history.until(3_600_000)
    expect(history.state.active[0]?.errors.map(({ message }) => message)).toEqual([
      'Topic orders does not exist.',
      'The record is too large.',
    ])
  })
})
