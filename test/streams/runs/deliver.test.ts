/** Runs whose target is a topic: when they are written, when they wait, and when they are given up. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { step } from '../../../streams/jobs/step.ts'
import type { Context, Decision, Job } from '../../../streams/state/job.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { definitionOf } from '../jobs/samples.ts'

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
    const timer = { dueAt: run?.dueAt ?? 0, kind: timerKind.retryResidue, jobId: 'a', runNo: 1 }
    const early = step(waiting.job, { kind: 'timer', timer }, context(timer.dueAt - 1))
    expect(early.deferUntil).toBe(timer.dueAt)
    const { out, job } = step(waiting.job, { kind: 'timer', timer }, context(timer.dueAt))
    expect(out).toMatchObject([{ kind: 'record', scheduledFor: at }])
    expect(job.state).toMatchObject({ status: 'COMPLETED', succeeded: 1 })
  })
  it('expires if its topic stays missing beyond the start deadline', () => {
    let decision = due(jobOf(), at, 'gone')
    for (let looks = 0; looks < 3; looks++) {
      const [run] = decision.job.state?.active ?? []
      if (run === undefined) break
      const timer = { dueAt: run.dueAt, kind: timerKind.retryResidue, jobId: 'a', runNo: 1 }
      decision = step(decision.job, { kind: 'timer', timer }, context(run.dueAt, 'gone'))
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
    const timer = { dueAt: waiting.job.state?.active[0]?.dueAt ?? 0, kind: timerKind.retryResidue, jobId: 'a', runNo: 1 }
    const { job, out } = step(waiting.job, { kind: 'timer', timer }, context(at + 60_000))
    expect(out).toEqual([])
    expect(job.state?.lastRun).toMatchObject({ status: 'EXPIRED', errors: [{ at, message: 'gone' }] })
  })
  it('remembers its last five reasons, each once with its last time', () => {
    let { job } = due(jobOf({ startDeadlineMs: 3_600_000 }), at, 'first')
    const reasons = ['first', 'second', 'first', 'third', 'fourth', 'fifth', 'fifth', 'sixth']
    for (const [index, reason] of reasons.entries()) {
      const timer = { dueAt: job.state?.active[0]?.dueAt ?? 0, kind: timerKind.retryResidue, jobId: 'a', runNo: 1 }
      job = step(job, { kind: 'timer', timer }, context(timer.dueAt, reason)).job
      if (index === 0) expect(job.state?.active[0]?.errors).toMatchObject([{ message: 'first', at: at + 30_000 }])
    }
    const errors = job.state?.active[0]?.errors.map(({ message, at: metAt }) => [message, (metAt - at) / 30_000])
    expect(errors).toEqual([
      ['first', 3],
      ['third', 4],
      ['fourth', 5],
      ['fifth', 7],
      ['sixth', 8],
    ])
  })
  it('keeps its payload and topic if its definition is replaced while it waits', () => {
    const waiting = due(jobOf({ payload: Buffer.from('old') }), at, 'gone')
    const definition = { ...jobOf({ target: { handler: 'noop' } }).definition, offset: 9 } as NonNullable<Job['definition']>
    const replaced = step(waiting.job, { kind: 'definition', definition }, context(at + 1))
    const [kept] = replaced.snapshotPuts
    expect(kept?.topicTarget?.name).toBe('orders')
    const job = { ...replaced.job, snapshots: new Map([[1, kept as NonNullable<typeof kept>]]) }
    const timer = { dueAt: job.state?.active[0]?.dueAt ?? 0, kind: timerKind.retryResidue, jobId: 'a', runNo: 1 }
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
