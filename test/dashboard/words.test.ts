import { describe, expect, it } from 'vitest'
import {
  axisDuration,
  failuresText,
  instant,
  jobState,
  lastChangeOf,
  limitsWords,
  processesWords,
  rate,
  reasonWords,
  relative,
  scheduleWords,
  waitWords,
  wantedWords,
} from '../../src/clients/dashboard/model/words.ts'
import type { ExecutorProcesses, Pool, Run } from '../../src/ground/answers/answers.ts'
import type { AuditRecord } from '../../src/ground/answers/index.ts'

describe('words', () => {
  it('gives the distance of a time in its largest unit', () => {
    expect([relative(5_500, 1_000), relative(1_000, 200_000), relative(1_400, 1_000)]).toEqual(['in 4 s', '3 min ago', 'now'])
  })

  it('tells a cancelled job from one that has fired for the last time', () => {
    const words = [
      ['COMPLETED', 'cancelled'],
      ['COMPLETED', null],
      ['ACTIVE', 'cancelled'],
    ] as const
    expect(words.map(([status, reason]) => jobState({ status, reason }))).toEqual(['CANCELLED', 'COMPLETED', 'ACTIVE'])
  })

  it('says why in words, and leaves sentences as they are', () => {
    const sentence = 'Pool gpu has no topics (duelog.executions.gpu.high does not exist): a-b'
    expect(['attempts', 'not-retryable', 'skipped: max-concurrent-runs', 'overlap', sentence].map(reasonWords)).toEqual([
      ...['no attempts left', 'not retryable', 'skipped: max concurrent runs', 'overlap', sentence],
    ])
  })

  it('shows an instant in any zone, with the year when it is not the current one', () => {
    const at = Date.UTC(2026, 10, 21, 8)
    expect(instant(at, 'Europe/Paris', at)).toBe('21 Nov 09:00:00')
    expect(instant(at, 'America/New_York', Date.UTC(2025, 1, 1))).toBe('21 Nov 2026 03:00:00')
  })

  it('shows a duration beside an axis in one unit', () => {
    expect([0, 250, 1_500, 60_000, 1_000_000, 7_200_000, 172_800_000].map(axisDuration)).toEqual([
      ...['0 ms', '250 ms', '1.5 s', '1 min', '16.7 min', '2 h', '2 d'],
    ])
  })

  it('shows rates with three digits', () => {
    expect([0, 0.123, 12.34, 1234.5].map(rate)).toEqual(['0', '0.12', '12.3', '1,235'])
  })

  it('say how many attempts of a run failed, and what a run waits for', () => {
    const error = (attempt: number) => ({ attempt }) as Run['errors'][number]
    const run = (status: Run['status'], attempts: number, errors: number[], startedAt: string | null = '2030-01-01T00:00:00Z') =>
      ({ status, attempts, errors: errors.map(error), startedAt }) as Run
    expect(failuresText(run('DEAD', 1, [1]))).toBe('1 error')
    expect(failuresText(run('SUCCEEDED', 5, [1, 2, 3, 4]))).toBe('4 of 5 attempts failed')
    expect(failuresText(run('RUNNING', 5, [1, 2, 3, 4]))).toBe('4 of 5 attempts failed')
    expect(failuresText(run('RETRY_WAIT', 2, [1, 2]))).toBe('2 of 2 attempts failed')
    expect(failuresText(run('DEAD', 8, [4, 5, 6, 7, 8]))).toBe('8 of 8 attempts failed, the last 5 errors are kept')
    const waiting = (waitsFor: 'SLOT' | 'RATE' | 'HANDLER') => waitWords({ ...run('WAITING', 1, []), waitsFor })
    expect([waiting('SLOT'), waiting('RATE'), waiting('HANDLER')]).toEqual([
      ...['for a slot of its concurrency key', 'for its rate limit', 'for a worker that has its handler'],
    ])
    const limited = (waitsFor: 'SLOT' | 'RATE', limitKey: string) => waitWords({ ...run('WAITING', 1, []), waitsFor, limitKey })
    expect([limited('SLOT', 'crm'), limited('RATE', 'a\u202e')]).toEqual(['for a slot of crm', 'for the rate limit a⟨202E⟩'])
    expect(waitWords({ ...run('WAITING', 1, []), waitsFor: 'POOL_PAUSED', limitKey: null })).toBe('until its pool is resumed')
  })

  it('describes when a schedule fires', () => {
    expect(scheduleWords({ everyMs: 300_000 })).toBe('every 5 min')
    expect(scheduleWords({ cron: '0 9 * * *', timezone: 'UTC' })).toBe('0 9 * * *')
    expect(scheduleWords({ at: 1 })).toBe('once')
  })
})

const record = (action: string, version: string | null, outcome = 'DONE') => ({ action, version, outcome }) as AuditRecord

it.each<[string, AuditRecord[], string | undefined, boolean]>([
  ['nobody by the API', [], undefined, false],
  ['a definition that is in force', [record('PUT', '0.7')], 'PUT', false],
  ['a refused change counts as none', [record('PUT', '0.9', 'version-conflict'), record('PUT', '0.7')], 'PUT', false],
  ['a pause after it', [record('PAUSE', null), record('PUT', '0.7')], 'PAUSE', false],
  ['a definition that a later one has replaced', [record('PAUSE', null), record('PUT', '0.6')], 'PAUSE', true],
  ['a batch, whose versions are not in the trail', [record('BATCH', null), record('PUT', '0.6')], 'BATCH', false],
  ['another log', [record('PUT', '1.6')], 'PUT', false],
])('%s', (_, records, action, byProducer) => {
  const last = lastChangeOf(records, '"0.7"')
  expect([last.record?.action, last.byProducer]).toEqual([action, byProducer])
})

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
