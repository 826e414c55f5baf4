/** Jobs with active runs that an owner keeps in memory: which of them, and for how long. */
import { expect, it } from 'vitest'
import { ActiveJobs } from '../../../src/scheduler/state/active-jobs.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import type { Job } from '../../../streams/state/job.ts'

const nowMs = 1_000_000

function jobOf(id: string, { runs = 1, payloadBytes = 0, dueAt = nowMs } = {}): Job {
  const spec = completeDefinition({ schedule: { everyMs: 1_000 }, target: { handler: 'h' } })
  const definition = { offset: 0, appendedAt: 0, bytes: Buffer.alloc(100 + payloadBytes), spec }
  const active = Array.from({ length: runs }, (_, at) => ({ runNo: at + 1, dueAt }))
  const state = { ...pristineState({ id, definition }), active } as unknown as NonNullable<Job['state']>
  return { id, definition, state }
}

const idsOf = (jobs: ActiveJobs): string[] => Array.from(jobs.entries(), ([id]) => id)

it('a job is kept while it has an active run', () => {
  const jobs = new ActiveJobs(() => 10)
  const job = jobOf('a')
  jobs.stored(job, { nowMs, stateBytes: 100, isNew: false })
  expect(jobs.get('a')).toEqual(job)
  jobs.stored(jobOf('a', { runs: 0 }), { nowMs, stateBytes: 100, isNew: false })
  expect(jobs.get('a')).toBeUndefined()
})

it('what is loaded beside a job for one cycle is not kept', () => {
  const jobs = new ActiveJobs(() => 10)
  jobs.stored({ ...jobOf('a'), snapshots: new Map(), followUpPages: new Map() }, { nowMs, stateBytes: 100, isNew: false })
  const loaded = jobs.get('a')
  if (loaded !== undefined) loaded.unreadableRuns = new Map([[1, 'for this cycle']])
  expect(jobs.get('a')).toEqual(jobOf('a'))
})

it('the oldest jobs are dropped first, and a job that changes is the newest', () => {
  const jobs = new ActiveJobs(() => 2)
  for (const id of ['a', 'b', 'a', 'c']) jobs.stored(jobOf(id), { nowMs, stateBytes: 100, isNew: false })
  expect(idsOf(jobs)).toEqual(['a', 'c'])
  const none = new ActiveJobs(() => 0)
  none.stored(jobOf('a'), { nowMs, stateBytes: 100, isNew: false })
  expect(idsOf(none)).toEqual([])
})

it('a partition keeps fewer when the process gets others', () => {
  let max = 4
  const jobs = new ActiveJobs(() => max)
  for (const id of ['a', 'b', 'c', 'd']) jobs.stored(jobOf(id), { nowMs, stateBytes: 100, isNew: false })
  max = 2
  jobs.stored(jobOf('e'), { nowMs, stateBytes: 100, isNew: false })
  expect(idsOf(jobs)).toEqual(['d', 'e'])
})

it('of large jobs fewer are kept', () => {
  const jobs = new ActiveJobs(() => 10)
  for (const id of ['a', 'b', 'c']) jobs.stored(jobOf(id, { payloadBytes: 1_900 }), { nowMs, stateBytes: 500, isNew: false })
  expect(idsOf(jobs)).toEqual(['b', 'c'])
  jobs.stored(jobOf('b', { runs: 0 }), { nowMs, stateBytes: 100, isNew: false })
  for (const id of ['c', 'd']) jobs.stored(jobOf(id, { payloadBytes: 1_900 }), { nowMs, stateBytes: 500, isNew: false })
  expect(idsOf(jobs)).toEqual(['c', 'd'])
})

it('large jobs, and jobs that cannot be read, are read each time', () => {
  const jobs = new ActiveJobs(() => 10)
  jobs.stored(jobOf('a', { payloadBytes: 5_000 }), { nowMs, stateBytes: 100, isNew: false })
  jobs.stored(jobOf('b'), { nowMs, stateBytes: 5_000, isNew: false })
  jobs.stored({ ...jobOf('c'), unreadable: 'why' }, { nowMs, stateBytes: 100, isNew: false })
  const { id, state } = jobOf('d')
  jobs.stored({ id, state }, { nowMs, stateBytes: 100, isNew: false })
  expect(idsOf(jobs)).toEqual([])
})

it('a job whose run is due later than in two seconds is not kept, so that a burst does not displace all others', () => {
  const jobs = new ActiveJobs(() => 10)
  jobs.stored(jobOf('soon', { dueAt: nowMs + 2_000 }), { nowMs, stateBytes: 100, isNew: false })
  jobs.stored(jobOf('later', { dueAt: nowMs + 2_001 }), { nowMs, stateBytes: 100, isNew: false })
  expect(idsOf(jobs)).toEqual(['soon'])
})

it('a new definition is copied, as its bytes are part of a fetch, and a job that changed otherwise is read again', () => {
  const jobs = new ActiveJobs(() => 10)
  const job = jobOf('a')
  jobs.stored(job, { nowMs, stateBytes: 100, isNew: true })
  expect(jobs.get('a')).toEqual(job)
  expect(jobs.get('a')?.definition?.bytes).not.toBe(job.definition?.bytes)
  jobs.forget('a')
  expect(jobs.get('a')).toBeUndefined()
})
