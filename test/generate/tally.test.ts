import { expect, it } from 'vitest'
import { Load } from '../../src/program/generate/plan.ts'
import { Tally } from '../../src/program/generate/tally.ts'

const mix = new Map([['NORMAL', 1]] as const)
const common = { delayMs: 0, everyMs: 500, handler: 'noop', pool: 'default', payloadBytes: 0, mix }
const load = new Load({ ...common, rate: 4, durationS: 1, kind: 'every', runs: 2 }, 'x')
const id = (index: number): string => load.job(index, 0).id

function tallyOf(...sent: number[]): Tally {
  const tally = new Tally(load)
  for (const index of sent) tally.sent(index)
  return tally
}

/** A run from its dispatch to its end. */
function ran(tally: Tally, jobId: string, runNo: number, startedAt: number): void {
  tally.execution({ jobId, runNo, attempt: 1, dueAt: 1_000 })
  tally.event({ jobId, runNo, attempt: 1, type: 'STARTED', startedAt })
  tally.event({ jobId, runNo, attempt: 1, type: 'SUCCEEDED', startedAt })
}

it('counts runs, and how late they started', () => {
  const tally = tallyOf(0)
  ran(tally, id(0), 1, 1_005)
  ran(tally, id(0), 2, 1_250)
  expect(tally.result()).toEqual({
    ...{ expected: 2, dispatched: 2, started: 2, succeeded: 2, dead: 0, lost: 0, duplicate: 0, failedAttempts: 0 },
    lateness: { p50: 250, p99: 250, max: 250 },
  })
})

it('counts as lost what was sent and not dispatched, started and ended; not what was never sent', () => {
  const tally = tallyOf(0, 1)
  ran(tally, id(0), 1, 1_005)
  tally.execution({ jobId: id(0), runNo: 2, attempt: 1, dueAt: 1_000 })
  tally.event({ jobId: id(1), runNo: 1, attempt: 1, type: 'STARTED', startedAt: 1_001 })
  expect(tally.result()).toMatchObject({ expected: 4, lost: 3 })
})

it('counts as duplicate a second dispatch or start of a first attempt, and a run too many', () => {
  const tally = tallyOf(0)
  ran(tally, id(0), 1, 1_005)
  tally.execution({ jobId: id(0), runNo: 1, attempt: 1, dueAt: 1_000 })
  tally.event({ jobId: id(0), runNo: 1, attempt: 1, type: 'STARTED', startedAt: 1_300 })
  tally.execution({ jobId: id(0), runNo: 3, attempt: 1, dueAt: 1_000 })
  expect(tally.result().duplicate).toBe(3)
})

it('counts repeated reports, retries and dead letters correctly', () => {
  const tally = tallyOf(0)
  ran(tally, id(0), 1, 1_005)
  tally.event({ jobId: id(0), runNo: 1, attempt: 1, type: 'SUCCEEDED', startedAt: 1_005 })
  for (const attempt of [1, 2]) {
    tally.execution({ jobId: id(0), runNo: 2, attempt, dueAt: 1_000 })
    tally.event({ jobId: id(0), runNo: 2, attempt, type: 'FAILED', startedAt: 1_000 + attempt })
  }
  tally.deadLetter(id(0), 2)
  expect(tally.result()).toMatchObject({ succeeded: 1, dead: 1, lost: 0, duplicate: 0, failedAttempts: 2 })
})

it('ends when each sent run was dispatched, started and ended, whatever topic was read last', async () => {
  const tally = tallyOf(0)
  let ended = false
  const end = tally.ended().then(() => {
    ended = true
  })
  for (const runNo of [1, 2]) tally.event({ jobId: id(0), runNo, attempt: 1, type: 'SUCCEEDED', startedAt: 1_001 })
  await Promise.resolve()
  expect(ended).toBe(false)
  for (const runNo of [1, 2]) tally.execution({ jobId: id(0), runNo, attempt: 1, dueAt: 1_000 })
  await end
  expect(tally.result()).toMatchObject({ lost: 0, lateness: { max: 1 } })
})
