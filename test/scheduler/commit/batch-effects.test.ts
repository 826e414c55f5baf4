/** What an owner keeps in memory of the jobs of a batch, once they are in the store. */
import { expect, it } from 'vitest'
import { CycleSpans } from '../../../src/ground/tracing/spans.ts'
import { Effects } from '../../../src/scheduler/commit/batch-effects.ts'
import { ActiveJobs } from '../../../src/scheduler/state/active-jobs.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { draftOf, pristineState } from '../../../streams/state/draft.ts'
import type { Job } from '../../../streams/state/job.ts'
import { codecs, names } from '../../model/world.ts'

const nowMs = 1_000_000
const newEffects = (): Effects => new Effects(0, 1, names, codecs, new CycleSpans(() => nowMs, nowMs))

function activeJob(): Job {
  const spec = completeDefinition({ schedule: { everyMs: 1_000 }, target: { handler: 'h' } })
  const definition = { offset: 0, appendedAt: 0, bytes: Buffer.alloc(100), spec }
  const active = [{ runNo: 1, dueAt: nowMs }]
  return {
    id: 'a',
    definition,
    state: { ...pristineState({ id: 'a', definition }), active } as unknown as NonNullable<Job['state']>,
  }
}

/** A job that is kept already. */
function kept(job: Job): ActiveJobs {
  const jobs = new ActiveJobs(() => 10)
  jobs.stored(job, { nowMs, stateBytes: 100, isNew: false })
  return jobs
}

it('a state that only a hook foresees, and that no decision has changed, is not kept', () => {
  const job = activeJob()
  const jobs = kept(job)
  const foreseen: Job = { ...job, state: { ...(job.state as NonNullable<Job['state']>), status: 'PAUSED' } }
  const effects = newEffects()
  effects.add(foreseen, draftOf(foreseen))
  effects.stored(jobs, nowMs)
  expect(jobs.get('a')).toEqual(job)
})

it('a definition that is stored without a decision is read again', () => {
  const job = activeJob()
  const jobs = kept(job)
  const effects = newEffects()
  effects.definition('a', Buffer.alloc(100))
  effects.add(job, draftOf(job))
  effects.stored(jobs, nowMs)
  expect(jobs.get('a')).toBeUndefined()
})
