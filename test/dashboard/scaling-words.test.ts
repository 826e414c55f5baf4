import { describe, expect, it } from 'vitest'
import type { ExecutorProcesses, Pool } from '../../src/answers/answers.ts'
import { limitsWords, processesWords, wantedWords } from '../../src/dashboard/model/scaling-words.ts'

type Reason = NonNullable<Pool['wanted']>['reason']
const pool = (workers: number, wanted: number, reason: Reason, more: Partial<NonNullable<Pool['wanted']>> = {}): Pool => ({
  ...{ pool: 'mail', state: 'ACTIVE', stateSince: null, pausedBy: null, slots: 10, handlers: [], dispatched: 0 },
  ...{ running: 0, waiting: 0, withoutHandler: 0, inPausedPool: 0 },
  ...{ workers, wanted: { workers: wanted, reason, backlog: 0, forecast: 0, lateMs: 0, ...more } },
})
const executors = (more: Partial<ExecutorProcesses> = {}): ExecutorProcesses => ({
  ...{ parent: '@host:7:a', name: null, host: 'host', pid: 7, pools: ['mail'], running: 3, wanted: 3, min: 1, max: 4 },
  ...{ reason: 'backlog', reasonPool: 'mail', since: '2030-01-01T00:00:00.000Z', coolDownMs: 60_000 },
  ...more,
})

describe('the workers that a pool needs', () => {
  it.each([
    [pool(1, 0, 'idle'), '0 wanted: nothing runs or waits'],
    [{ ...pool(1, 0, 'idle'), state: 'DRAINED' as const }, '0 wanted: it is drained'],
    [pool(1, 2, 'running'), '2 wanted: for the handlers that run'],
    [pool(1, 3, 'backlog', { backlog: 1_204 }), '3 wanted: 1,204 runs wait'],
    [pool(1, 1, 'forecast', { forecast: 1 }), '1 wanted: 1 run comes due within 30 s'],
    [pool(1, 2, 'lateness', { lateMs: 4_321 }), '2 wanted: runs have waited for 4 s'],
    [pool(3, 3, 'owners-unknown'), '3 wanted: as many as now, because an owner does not answer'],
  ])('have their reason beside them: %#', (given, words) => expect(wantedWords(given)).toBe(words))

  it('are not shown while they are unknown', () => expect(wantedWords({ wanted: null, state: 'ACTIVE' })).toBeUndefined())
})

describe('the executor processes of a parent', () => {
  it('say which load asked for them', () => {
    expect(processesWords(executors(), [pool(3, 3, 'backlog')])).toBe('Waiting runs of pool mail needed 3.')
    expect(processesWords(executors({ wanted: 4 }), undefined)).toBe('Waiting runs of pool mail needed 4, the most allowed.')
  })

  it('say that fewer are enough only if that is so for each of their pools', () => {
    const other = { ...pool(3, 3, 'running'), pool: 'other' }
    const both = executors({ pools: ['mail', 'other'] })
    const now = ' Fewer are enough now; one ends when that holds for 1 min.'
    expect(processesWords(executors(), [pool(3, 1, 'running'), other])).toBe(`Waiting runs of pool mail needed 3.${now}`)
    expect(processesWords(both, [pool(3, 1, 'running'), other])).toBe('Waiting runs of pool mail needed 3.')
    expect(processesWords(executors({ wanted: 1 }), [pool(1, 0, 'idle')])).not.toContain('Fewer are enough now')
  })

  it('say what ended the others, and what began', () => {
    expect(processesWords(executors({ wanted: 1, reason: 'cool-down' }), [])).toBe('Fewer were enough for 1 min.')
    expect(processesWords(executors({ wanted: 1, reason: 'start', reasonPool: null }), [])).toBe('As many as at the start.')
    expect(processesWords(executors({ min: 4, max: 4 }), [])).toBe('Their number is fixed.')
    expect([limitsWords(executors()), limitsWords(executors({ min: 4, max: 4 }))]).toEqual(['1 to 4', 'fixed'])
  })

  it('show the reason of a later version as it is', () => {
    expect(processesWords(executors({ reason: 'memory' }), undefined)).toBe('memory of pool mail needed 3.')
  })
})
