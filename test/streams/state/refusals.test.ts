/** The refused commands and definitions that a job remembers, for an operator who asks why. */
import { describe, expect, it } from 'vitest'
import { JobHistory } from '../runs/history.ts'

const over = (): JobHistory => new JobHistory().define({ schedule: { at: 500 }, expireAt: 1_000, maxConcurrentRuns: 1 })

describe('the decisions of a job', () => {
  it('are counted together if consecutive ones have the same reason, and only then', () => {
    const job = new JobHistory().define({ schedule: { everyMs: 1_000 }, maxConcurrentRuns: 1 }).downUntil(3_500)
    expect(job.until(6_000).state.decisions).toMatchObject([
      { what: 'SKIPPED', reason: 'catch-up', count: 2, scheduledFor: 1_000, at: 3_500 },
      { what: 'SKIPPED', reason: 'max-concurrent-runs', count: 3, scheduledFor: 4_000, at: 6_000 },
    ])
  })
  it('have an entry for each command that a caller may ask for, and one for all others', () => {
    const job = over()
    job.until(1_000)
    for (const commandId of ['f1', 'f2']) job.command('TRIGGER', { trigger: 'FOLLOW_UP', commandId })
    for (const commandId of ['m1', 'm2']) job.command('TRIGGER', { commandId })
    job.command('TRIGGER', { trigger: 'FOLLOW_UP', commandId: 'f3' })
    expect(job.state.decisions.map(({ commandId, count, reason }) => [commandId, count, reason])).toEqual([
      [null, 2, 'expired'],
      ['m1', 1, 'expired'],
      ['m2', 1, 'expired'],
      [null, 1, 'expired'],
    ])
  })
  it('are the last twelve besides those of remembered commands', () => {
    const job = new JobHistory().define({ schedule: { everyMs: 1_000 }, retry: { maxAttempts: 1 } })
    job.command('REDRIVE', { runNo: 7, commandId: 'asked' })
    for (let time = 1_000; time <= 20_000; time += 1_000) job.until(time).fail()
    expect(job.state.decisions.map(({ what, runNo }) => `${what} ${runNo}`)).toEqual([
      'DROPPED 7',
      ...Array.from({ length: 12 }, (_, index) => `DEAD ${index + 9}`),
    ])
  })
})

it.each([
  ['a trigger by hand', 'TRIGGER', { trigger: 'MANUAL' }, 'MANUAL'],
  ['a follow-up', 'TRIGGER', { trigger: 'FOLLOW_UP' }, 'FOLLOW_UP'],
  ['a redrive', 'REDRIVE', { runNo: 5 }, 'REDRIVE'],
] as const)('%s that is refused is counted under its own name', (_, type, more, what) => {
  expect(over().until(1_000).command(type, more).last.notes).toMatchObject([{ kind: 'refused', what, count: 1 }])
})
