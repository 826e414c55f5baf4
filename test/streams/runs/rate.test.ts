/** Each attempt under a rateLimit gets a start, and keeps its slot while it waits for it. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { slotUse } from '../../../streams/state/slots.ts'
import { JobHistory } from './history.ts'

const rateLimit = { key: 'r', limit: 2, perMs: 10_000 }
const limited = (more: Partial<JobDefinitionInput> = {}, options = {}): JobHistory =>
  new JobHistory(options).define({ schedule: { everyMs: 1_000 }, rateLimit, ...more })
const due = (job: JobHistory): number[] => job.dispatched.map(({ dueAt }) => dueAt)

describe('an attempt under a rateLimit', () => {
  it('starts at once while there is room in the window, and at its assigned time otherwise', () => {
    const job = limited({ maxRuns: 5 }).until(3_000)
    expect(due(job)).toEqual([1_000, 2_000])
    expect(job.state.active.at(-1)).toMatchObject({ runNo: 3, status: 'WAITING', waitsFor: 'RATE', dueAt: 11_000 })
    expect(job.state.decisions).toMatchObject([
      { what: 'WAITING', reason: 'rate-limit', runNo: 3, scheduledFor: 3_000, at: 3_000 },
    ])
    expect(due(job.until(30_000))).toEqual([1_000, 2_000, 11_000, 12_000, 21_000])
  })
  it('needs no slot without a concurrencyKey', () => {
    const job = limited({ maxRuns: 2 })
    job.others = { held: 1_000, waiting: 1_000 }
    expect(due(job.until(2_000))).toEqual([1_000, 2_000])
  })
  it('of a burst is not dispatched ahead of the usual lead: it would delay earlier starts of others', () => {
    const job = limited({ schedule: { at: 60_000 } }, { leadMs: 100 }).fireAhead()
    expect(job.last).toMatchObject({ out: [], deferUntil: 59_900 })
  })
  it('keeps its start deadline if its start is dispatched late', () => {
    const job = limited({ maxRuns: 3, startDeadlineMs: 20_000 }).until(3_000).downUntil(11_500)
    expect(job.dispatched.at(-1)).toMatchObject({ runNo: 3, dueAt: 11_000, startDeadlineAt: 23_000 })
  })
  it('is dispatched within the lead, and not earlier', () => {
    const job = limited({ maxRuns: 3 }, { leadMs: 100 }).until(10_899)
    expect(job.dispatched).toHaveLength(2)
    expect(due(job.until(10_900))).toEqual([1_000, 2_000, 11_000])
  })
  it('counts for each attempt: a retry has a start of its own', () => {
    const job = limited({ maxRuns: 1, rateLimit: { ...rateLimit, limit: 1 } }).until(1_000)
    job.fail('Error', { retryAfterMs: 0 })
    expect(job.state.active).toMatchObject([{ status: 'WAITING', waitsFor: 'RATE', dueAt: 11_000, attempt: 2 }])
    expect(due(job.until(11_000))).toEqual([1_000, 11_000])
  })
  it('holds its slot while it waits for its start', () => {
    const job = limited({ maxRuns: 3, concurrencyKey: 'k', concurrencyLimit: 3 }).until(3_000)
    expect(slotUse(job.state, 'k')).toEqual({ held: 3, waiting: 0 })
  })
  it('gets a start only when it has its slot', () => {
    const job = limited({ maxRuns: 1, concurrencyKey: 'k' })
    job.others.held = 1
    job.until(50_000)
    expect(job.starts.size).toBe(0)
    job.others.held = 0
    expect(due(job.admit())).toEqual([50_000])
    expect([...(job.starts.get('r')?.times ?? [])]).toEqual([50_000])
  })
  it('that could only start after its deadline expires at once, and uses no start', () => {
    const job = limited({ maxRuns: 3, startDeadlineMs: 5_000 }).until(3_000)
    expect(job.state.lastRun).toMatchObject({ runNo: 3, status: 'EXPIRED' })
    expect(job.state.decisions).toMatchObject([
      { what: 'WAITING', reason: 'rate-limit', runNo: 3 },
      { what: 'EXPIRED', reason: 'rate-limit', runNo: 3 },
    ])
    expect([...(job.starts.get('r')?.times ?? [])]).toEqual([1_000, 2_000])
  })
  it('whose start is exactly at its deadline expires too: it must have started by then', () => {
    const job = limited({ maxRuns: 3, startDeadlineMs: 8_000 }).until(3_000)
    expect(job.state.lastRun).toMatchObject({ runNo: 3, status: 'EXPIRED' })
    expect([...(job.starts.get('r')?.times ?? [])]).toEqual([1_000, 2_000])
    const inTime = limited({ maxRuns: 3, startDeadlineMs: 8_001 }).until(3_000)
    expect(inTime.state.active.at(-1)).toMatchObject({ runNo: 3, waitsFor: 'RATE', dueAt: 11_000 })
  })
  it('that is given back before its time keeps its start', () => {
    const job = limited({ maxRuns: 1, schedule: { at: 1_000 } }, { leadMs: 100 }).until(900)
    job.report('RELEASED')
    expect(due(job)).toEqual([1_000, 1_000])
    expect([...(job.starts.get('r')?.times ?? [])]).toEqual([1_000])
    job.until(1_500).report('RELEASED')
    expect([...(job.starts.get('r')?.times ?? [])]).toEqual([1_000, 1_500])
  })
  it('can be canceled while it waits, without a message to workers', () => {
    const job = limited().until(3_000).command('CANCEL_RUN', { runNo: 3 })
    expect(job.last.out).toEqual([])
    expect(job.state.cancelled).toBe(1)
  })
  it('follows the rateLimit of the definition in force, if the key is the same', () => {
    const job = limited({ maxRuns: 9 }).until(2_000)
    job.define({ schedule: { everyMs: 1_000 }, maxRuns: 9, rateLimit: { ...rateLimit, limit: 3 } }).until(3_000)
    expect(due(job)).toEqual([1_000, 2_000, 3_000])
  })
})

it('an attempt keeps the rateLimit of its run if the definition has another key', () => {
  const job = limited({ maxRuns: 1 }).until(1_000)
  job.define({ schedule: { everyMs: 1_000 }, maxRuns: 1, rateLimit: { key: 'other', limit: 9, perMs: 10 } })
  for (let attempt = 1; attempt <= 2; attempt++) job.fail('Error', { retryAfterMs: 0 })
  expect(due(job)).toEqual([1_000, 1_000])
  expect(due(job.until(11_000))).toEqual([1_000, 1_000, 11_000])
})

describe('a start that was reserved', () => {
  const start = (job: JobHistory, dueAt: number, runNo: number) =>
    job.step({ kind: 'timer', timer: { dueAt, kind: timerKind.start, jobId: 'job', runNo } })
  it('belongs to the run that waits for it, at its time', () => {
    const job = limited({ maxRuns: 3 }).until(3_000)
    const { state } = job
    start(job, 9_000, 3)
    expect(job.last).toMatchObject({ out: [], deferUntil: undefined })
    expect(job.state).toBe(state)
  })
  it.each<[string, () => JobHistory]>([
    ['was handed over', () => limited({ maxRuns: 1 }).until(1_000)],
    ['runs', () => limited({ maxRuns: 1 }).until(1_000).report('STARTED')],
    [
      'waits for a slot',
      () => {
        const job = limited({ maxRuns: 1, concurrencyKey: 'k' })
        job.others.held = 1
        return job.until(1_000)
      },
    ],
  ])('does nothing for a run that %s', (_, begin) => {
    const job = begin()
    const { state } = job
    expect(state.active).toMatchObject([{ dueAt: 1_000 }])
    start(job, 1_000, 1)
    expect(job.last).toMatchObject({ out: [], deferUntil: undefined })
    expect(job.state).toBe(state)
  })
})

describe('a record to a topic under a rateLimit', () => {
  const topic = { schedule: { everyMs: 1_000 }, target: { topic: { name: 'orders' } } }
  it('is written at its start, never before', () => {
    const job = limited({ ...topic, maxRuns: 3 }, { leadMs: 100 })
    const written = (): number => job.out.filter(({ kind }) => kind === 'record').length
    expect(job.until(10_999) && written()).toBe(2)
    expect(job.until(11_000) && written()).toBe(3)
    expect(job.state.lastRun).toMatchObject({ runNo: 3, status: 'SUCCEEDED', finishedAt: 11_000 })
  })
  it('uses no start while its topic is missing, and expires if it is still missing at its deadline', () => {
    let problem: string | undefined = 'It is gone.'
    const job = new JobHistory({ topicProblem: () => problem })
    const definition = { schedule: { at: 1_000 }, target: topic.target, startDeadlineMs: 100_000, rateLimit }
    job.definition({ spec: completeDefinition(definition) }, true).until(90_000)
    expect(job.state.active).toMatchObject([{ status: 'RETRY_WAIT', startDeadlineAt: 101_000 }])
    expect(job.starts.size).toBe(0)
    expect(job.until(101_000).state.lastRun).toMatchObject({ status: 'EXPIRED', finishedAt: 101_000 })
    const back = new JobHistory({ topicProblem: () => problem })
    back.definition({ spec: completeDefinition(definition) }, true).until(50_000)
    problem = undefined
    expect([...(back.until(70_000).starts.get('r')?.times ?? [])]).toEqual([61_000])
    expect(back.state.lastRun).toMatchObject({ status: 'SUCCEEDED', finishedAt: 61_000 })
  })
})
