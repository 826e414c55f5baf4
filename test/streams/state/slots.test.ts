/**
 * The slots of a key, as the documents describe them: which run holds one, which runs wait, how many slots exist, and the order
 * of admission.
 */
import { describe, expect, it } from 'vitest'
import type { ActiveRun, JobState, RunLimits, RunStatus } from '../../../schemas/generated.ts'
import {
  holdsSlot,
  isSameWaiter,
  slotKeysOf,
  slotLimitOf,
  slotUse,
  waiterOf,
  waitersOf,
  waitsForSlot,
} from '../../../streams/state/slots.ts'
import { JobHistory } from '../runs/history.ts'

const keyed: RunLimits = {
  concurrencyKey: 'k',
  concurrencyLimit: 3,
  rateKey: null,
  rateLimit: 1,
  ratePerMs: 1,
  rank: 1,
  startDeadlineMs: 60_000,
}
const template = (() => {
  const [run] = new JobHistory().define().until(1_000).state.active
  if (run === undefined) throw new Error('Nothing was dispatched.')
  return run
})()
const runIn = (status: RunStatus, waitsFor: ActiveRun['waitsFor'], limits: RunLimits | null = keyed): ActiveRun => ({
  ...template,
  status,
  waitsFor,
  limits,
})
const stateOf = (...active: ActiveRun[]): JobState => ({ ...new JobHistory().define().until(1_000).state, active })

/** Each status with its possible wait reasons, and what the run then takes of its key. */
const taken: [status: RunStatus, waitsFor: ActiveRun['waitsFor'], takes: 'slot' | 'place' | 'nothing'][] = [
  ['WAITING', 'SLOT', 'place'],
  ['WAITING', 'RATE', 'slot'],
  ['WAITING', null, 'nothing'],
  ['DISPATCHED', null, 'slot'],
  ['RUNNING', null, 'slot'],
  ['RETRY_WAIT', null, 'nothing'],
  // After any wait, a backoff gives the slot back and is in no admission queue.
  ['RETRY_WAIT', 'RATE', 'nothing'],
  ['RETRY_WAIT', 'SLOT', 'nothing'],
  ['RUNNING', 'SLOT', 'slot'],
]

describe('a run of a key', () => {
  it.each(taken)('that is %s and waits for %s uses a %s', (status, waitsFor, takes) => {
    const run = runIn(status, waitsFor)
    expect(holdsSlot(run)).toBe(takes === 'slot')
    expect(waitsForSlot(run)).toBe(takes === 'place')
    expect(slotUse(stateOf(run), 'k')).toEqual({ held: takes === 'slot' ? 1 : 0, waiting: takes === 'place' ? 1 : 0 })
    expect(waiterOf('job', run)).toEqual(
      takes === 'place' ? { key: 'k', rank: 1, dueAt: run.dueAt, jobId: 'job', runNo: run.runNo } : undefined,
    )
  })
  it.each([
    ['no limits', null],
    ['a rate alone', { ...keyed, concurrencyKey: null, rateKey: 'r' }],
  ])('uses none with %s', (_, limits) => {
    for (const [status, waitsFor] of taken) {
      const run = runIn(status, waitsFor, limits)
      expect([holdsSlot(run), waitsForSlot(run), waiterOf('job', run)]).toEqual([false, false, undefined])
      expect(slotUse(stateOf(run), 'k')).toEqual({ held: 0, waiting: 0 })
      expect(slotKeysOf(stateOf(run)).size).toBe(0)
    }
  })
})

it('counts each run of a job under its own key', () => {
  const other = { ...keyed, concurrencyKey: 'other' }
  const state = stateOf(
    runIn('RUNNING', null),
    runIn('DISPATCHED', null),
    runIn('WAITING', 'SLOT'),
    runIn('RUNNING', null, other),
    runIn('RUNNING', null, null),
  )
  expect(slotUse(state, 'k')).toEqual({ held: 2, waiting: 1 })
  expect(slotUse(state, 'other')).toEqual({ held: 1, waiting: 0 })
  expect(slotUse(state, 'nobody')).toEqual({ held: 0, waiting: 0 })
  expect([...slotKeysOf(state)]).toEqual(['k', 'other'])
  expect(waitersOf('job', state)).toHaveLength(1)
  expect(slotUse(undefined, 'k')).toEqual({ held: 0, waiting: 0 })
  expect([slotKeysOf(undefined).size, waitersOf('job', undefined).length]).toEqual([0, 0])
})

describe('the slots of a key', () => {
  const spec = (more: object) => {
    const found = new JobHistory().define(more).job.definition?.spec
    if (found === undefined) throw new Error('There is no definition.')
    return found
  }
  it.each([
    ['are those of the definition in force', spec({ concurrencyKey: 'k', concurrencyLimit: 7 }), keyed, 7],
    ['are those that the run was made with where the definition has another key', spec({ concurrencyKey: 'z' }), keyed, 3],
    ['also where it has none', spec({}), keyed, 3],
    ['also where there is none', undefined, keyed, 3],
    ['are one where nobody says', undefined, null, 1],
  ])('%s', (_, definition, limits, expected) => {
    expect(slotLimitOf(definition, runIn('WAITING', 'SLOT', limits))).toBe(expected)
  })
})

it('an entry of the queue is another one if anything of it differs', () => {
  const place = { key: 'k', rank: 1, dueAt: 1_000, jobId: 'job', runNo: 2 }
  expect(isSameWaiter(place, { ...place })).toBe(true)
  for (const more of [{ key: 'z' }, { rank: 2 }, { dueAt: 1_001 }, { jobId: 'other' }, { runNo: 3 }])
    expect(isSameWaiter(place, { ...place, ...more })).toBe(false)
})
