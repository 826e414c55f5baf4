import { describe, expect, it } from 'vitest'
import type { Rates } from '../../src/clients/dashboard/model/rates.ts'
import {
  hasUnserved,
  type LimitsSeen,
  limitsSeen,
  overloadedMs,
  stoppedOf,
  troublesOf,
} from '../../src/clients/dashboard/model/troubles.ts'
import type { Counts, Limit, OwnerState, Pool, StatsMessage } from '../../src/ground/answers/answers.ts'

const fine: OwnerState = {
  ...{ partition: 0, phase: 'active', restoreRemaining: 0, mailboxDepth: 0, jobsOffset: 0, overdueMs: 0, restoreTotal: 0 },
  ...{ underWay: { dispatched: 0, running: 0, waiting: 0, withoutHandler: 0, inPausedPools: 0 }, instance: 'a@b:1:c', url: null },
}
const stats = (at: number, dead: number, partitions: Partial<OwnerState>[] = [{}]): StatsMessage => ({
  at,
  counts: { ended: { DEAD: dead } } as unknown as Counts,
  partitions: partitions.map((state, partition) => ({ ...fine, partition, ...state })),
})
const texts = (kept: StatsMessage[], p99Ms = 5): string[] => troublesOf(kept, { p99Ms } as Rates).map(({ text }) => text)

it('reports nothing when all is well, or nothing is known', () => {
  expect(texts([])).toEqual([])
  expect(texts([stats(0, 3), stats(60_000, 3)])).toEqual([])
})

it('names the partitions without an owner, and those that are late', () => {
  const states = [
    { instance: null, phase: 'closed' },
    { phase: 'restoring' },
    { overdueMs: 12_000 },
    { overdueMs: 90_000 },
  ] as const
  expect(texts([stats(0, 0, [...states])])).toEqual([
    'Partition 0: no owner, so nothing fires.',
    'Partition 1: taking over or restoring.',
    'Partitions 2, 3: due work waits for the owner, the oldest for 1 min 30 s.',
  ])
})

it('says that runs wait for a worker with their handler', () => {
  const of = (pool: string, withoutHandler: number) => ({
    pool,
    dispatched: 0,
    running: 0,
    waiting: 9,
    withoutHandler,
    inPausedPools: 0,
  })
  const partitions = [{ pools: [of('mail', 2), of('video', 3)] }, { pools: [of('mail', 1)] }, {}]
  expect(troublesOf([stats(0, 0, partitions)], undefined)).toEqual(
    [
      '3 runs wait, because no worker of the pool mail has the handler. Start a worker that has it.',
      '3 runs wait, because no worker of the pool video has the handler. Start a worker that has it.',
    ].map((text) => ({ text, href: '/runs?state=WAITING' })),
  )
})

it('names paused pools whose runs wait, with the sum of all partitions', () => {
  const of = (pool: string, inPausedPools: number) => ({
    pool,
    dispatched: 0,
    running: 0,
    waiting: 3,
    withoutHandler: 0,
    inPausedPools,
  })
  const partitions = [{ pools: [of('mail', 2), of('idle', 0)] }, { pools: [of('mail', 1)] }, {}]
  expect(texts([stats(0, 0, partitions)])).toEqual(['The pool mail is paused, and 3 runs wait.'])
  const pools = [{ pool: 'mail', workers: 0, state: 'DRAINED' } as Pool]
  const [drained] = troublesOf([stats(0, 0, partitions)], undefined, { pools })
  expect(drained?.text).toBe('The pool mail is drained, and 3 runs wait.')
})

it('names pools without workers whose runs were dispatched, with the runs of now', () => {
  const of = (pool: string, dispatched: number, waiting = 0) => ({
    pool,
    dispatched,
    running: 0,
    waiting,
    withoutHandler: 0,
    inPausedPools: 0,
  })
  const pool = (name: string, workers: number, state = 'ACTIVE') => ({ pool: name, workers, state, dispatched: 50 }) as Pool
  const partitions = [{ pools: [of('mail', 2), of('far', 0, 7), of('busy', 4)] }, { pools: [of('mail', 1), of('held', 3)] }, {}]
  const pools = [pool('busy', 1), pool('far', 0), pool('held', 0, 'PAUSED'), pool('idle', 0), pool('mail', 0)]
  expect(troublesOf([stats(0, 0, partitions)], undefined, { pools })).toEqual([
    { text: 'The pool mail has no workers, and 3 runs wait.', href: '/pools' },
  ])
  const one = [{ pools: [of('mail', 1)] }]
  expect(troublesOf([stats(0, 0, one)], undefined, { pools })[0]?.text).toBe('The pool mail has no workers, and 1 run waits.')
  // Then the pools are asked about sooner.
  expect(hasUnserved(stats(0, 0, one), pools)).toBe(true)
  expect(hasUnserved(stats(0, 0), pools)).toBe(false)
  expect(hasUnserved(stats(0, 0, one), undefined)).toBe(false)
  expect(hasUnserved(undefined, pools)).toBe(false)
})

describe('an overloaded limit', () => {
  const limit = (key: string, waiting: number, more: Partial<Limit> = {}): Limit => {
    return { partition: 0, key, limit: 2, held: 2, waiting, ...more }
  }
  const waiting = [{ underWay: { dispatched: 0, running: 2, waiting: 3, withoutHandler: 0, inPausedPools: 0 } }]
  /** What Now says after these answers, each with its time. */
  const said = (answers: [at: number, limits: Limit[]][], partitions: Partial<OwnerState>[] = waiting): string[] => {
    let limits: LimitsSeen | undefined
    for (const [at, given] of answers) limits = limitsSeen(limits, given, at)
    return troublesOf([stats(0, 0, partitions)], undefined, { limits }).map(({ text }) => text)
  }
  const twice = (...limits: Limit[]) => said([1, 2].map((answer) => [answer * overloadedMs, limits]))

  it('is full, and more runs wait than it has slots, in two answers in a row', () => {
    expect(twice(limit('crm', 3))).toEqual(['The limit crm is overloaded: 3 runs wait.'])
    expect(twice(limit('crm', 2), limit('free', 3, { held: 1 }))).toEqual([])
    // The limit was made smaller.
    expect(twice(limit('less', 2, { limit: 1 }))).toEqual(['The limit less is overloaded: 2 runs wait.'])
    expect(said([[overloadedMs, [limit('crm', 3)]]])).toEqual([])
  })

  it('is none if a burst passes, if the page was hidden in between, or if nothing waits any more', () => {
    const [crm, ms] = [[limit('crm', 3)], overloadedMs]
    const begun: [number, Limit[]][] = [[0, crm]]
    expect(said([...begun, [ms - 1, crm]])).toEqual([])
    expect(said([...begun, [ms, []], [2 * ms, crm]])).toEqual([])
    expect(said([...begun, [3_600_000, crm]])).toEqual([])
    // The clock of the browser was set back.
    expect(said([[9 * ms, crm], ...begun])).toEqual([])
    expect(said([[9 * ms, crm], ...begun, [ms, crm]])).toHaveLength(1)
    expect(said([...begun, [ms, crm]])).toHaveLength(1)
    expect(said([...begun, [ms, crm]], [{}])).toEqual([])
  })

  it('is named once for all its partitions, the three with most runs by name', () => {
    const [here, there] = [limit('crm', 3), limit('crm', 4, { partition: 1 })]
    const others = [limit('a', 9), limit('b', 5), limit('c\u202e', 6), limit('d', 3)]
    expect(twice(here, there, ...others)).toEqual([
      'The limit a is overloaded: 9 runs wait.',
      'The limit crm is overloaded: 7 runs wait.',
      'The limit c⟨202E⟩ is overloaded: 6 runs wait.',
      '2 other limits are overloaded: 8 runs wait.',
    ])
    // Only one of its partitions is full: the runs of the other are not counted.
    expect(twice(here, limit('crm', 2, { partition: 1 }))).toEqual(['The limit crm is overloaded: 3 runs wait.'])
  })

  it('waits for a decision and links to the view', () => {
    const limits = limitsSeen(limitsSeen(undefined, [limit('crm', 3)], 0), [limit('crm', 3)], overloadedMs)
    const [trouble] = troublesOf([stats(0, 0, waiting)], undefined, { limits })
    expect(trouble).toEqual({ text: 'The limit crm is overloaded: 3 runs wait.', href: '/pools', waits: true })
  })
})

it('names the partitions whose owner does not trust its clock, and gives each advice once', () => {
  const problem = 'The wall clock of this machine was set. Check its time service.'
  const other = 'The wall clock of this machine is 5001 ms ahead of the brokers.'
  const kept = [stats(0, 0, [{}, { problem }, { problem: other }, { problem: null }, { problem: other, instance: 'b@c:1:d' }])]
  const expected = [
    `Partitions 1, 2 of a@b:1:c: nothing fires, and no change is applied. ${problem}`,
    `Partition 4 of b@c:1:d: nothing fires, and no change is applied. ${other}`,
  ]
  expect(texts(kept)).toEqual(expected)
  expect(stoppedOf(kept[0] as StatsMessage).map(({ text }) => text)).toEqual(expected)
})

it('reports owners that use different time zone rules', () => {
  const [old, young] = [{ zoneRules: '2025b' }, { zoneRules: '2026a' }]
  expect(texts([stats(0, 0, [young, young, {}])])).toEqual([])
  expect(texts([stats(0, 0, [young, old, young, {}])])).toEqual([
    'Owners use different time zone rules: 2025b (partition 1), 2026a (partitions 0, 2). Run all of them on the same version of Node.',
  ])
})

it('reports for a day a topic that was truncated, or lost unread records', () => {
  const lastReset = { topic: 'duelog.job-commands', from: 7, to: 0, reason: 'beyond-end', at: 1_000 } as const
  const expired = { ...lastReset, to: 20, reason: 'expired' } as const
  expect(texts([stats(2_000, 0, [{ lastReset: null }, { lastReset }, { lastReset: expired }])])).toEqual([
    'Partition 1: duelog.job-commands was truncated or recreated. Reading continued at offset 0 instead of 7. Send the missing records again.',
    'Partition 2: duelog.job-commands lost records before they were read. Reading continued at offset 20 instead of 7. Send the missing records again.',
  ])
  expect(texts([stats(86_401_000, 0, [{ lastReset }])])).toEqual([])
})

it('reports a job-state that was lost', () => {
  const lastReset = { topic: 'duelog.job-state', from: 0, to: 0, reason: 'lost', at: 1_000 } as const
  expect(texts([stats(2_000, 0, [{ lastReset: null }, { lastReset }])])).toEqual([
    'Partition 1: duelog.job-state lost its state; jobs restarted from their definitions.',
  ])
})

it('reports a transaction that blocks a partition', () => {
  const openTransaction = { topic: 'duelog.jobs', offset: 7, records: 3, since: 1_000 }
  expect(texts([stats(121_000, 0, [{ openTransaction: null }, { openTransaction }])])).toEqual([
    'Partition 1: a transaction in duelog.jobs has been open for 2 min. It blocks 3 records from offset 7 on. Stop the producer that opened it, or abort it with kafka-transactions.sh.',
  ])
})

it('tells starts that are nearly all late from a few that are', () => {
  const rates = { p50Ms: 4_300, p99Ms: 4_800 } as Parameters<typeof troublesOf>[1]
  expect(troublesOf([stats(0, 0)], rates).map(({ text }) => text)).toEqual([
    'Half of the starts are more than 4.3 s late, 1% more than 4.8 s late.',
  ])
})

it('reports late starts, and dead letters since the page was opened', () => {
  expect(texts([stats(0, 3), stats(60_000, 5)], 2_500)).toEqual([
    '1% of starts are more than 2.5 s late.',
    '2 new dead letters in the last 1 min.',
  ])
})

it('reports what stands until somebody acts, whenever the page was opened', () => {
  const standing = { deadRuns: 20_000, deadJobs: 3, invalid: 1, paused: 7 }
  const one = { deadRuns: 1, deadJobs: 1, invalid: 2, paused: 0 }
  expect(troublesOf([stats(0, 0, [{ standing }, { standing: null }])], undefined)).toEqual([
    { text: '20,000 dead letters of 3 jobs wait for a decision.', href: '/dead-letters', waits: true },
    { text: '1 job is invalid and will not fire.', href: '/jobs?status=INVALID', waits: true },
  ])
  expect(texts([stats(0, 0, [{ standing }, { standing: one }])])).toEqual([
    '20,001 dead letters of 4 jobs wait for a decision.',
    '3 jobs are invalid and will not fire.',
  ])
  expect(texts([stats(0, 0, [{ standing: { ...one, invalid: 0 } }])])).toEqual(['1 dead letter of 1 job waits for a decision.'])
})

it('reports faults of the audit first', () => {
  const audited = (found: number) => ({
    ...stats(60_000, 0),
    proof: { found, unacknowledged: found, audited: 1, judgedUntil: 50_000 },
  })
  expect(texts([stats(0, 0), audited(0)])).toEqual([])
  expect(texts([stats(0, 0), { ...stats(60_000, 0), proof: null }])).toEqual([])
  expect(texts([stats(0, 0), audited(2)], 2_500)).toEqual(['The audit found 2 faults.', '1% of starts are more than 2.5 s late.'])
})

it('counts nothing from before a process ended', () => {
  expect(texts([stats(0, 3), stats(60_000, 0)])).toEqual([])
})
