import { expect, test } from 'vitest'
import { type CheckerVerdict, findingKinds } from '../checker/checker.ts'
import { faults } from '../faults/all.ts'
import { readOptions } from '../options.ts'
import { isOnTime } from '../stage.ts'
import { notRun, resultOf, withAudit } from './result.ts'
import { tableOf } from './table.ts'

const fault = { name: 'a-fault', what: 'something', goal: { words: '≤ 2 s', longestMs: 2_000 }, run: async () => {} }
const verdictWith = (changes: Partial<CheckerVerdict>, counts: Record<string, number> = {}): CheckerVerdict => ({
  ...{
    expected: 10,
    fires: 10,
    windowFires: 10,
    longestMs: 1_500,
    longestWhat: 'x',
    lateCount: 2,
    lastLateAt: 5_000,
    gapMs: 900,
  },
  ...{ startedAgain: 0, startedAgainInProcess: 0 },
  findings: Object.fromEntries(
    findingKinds.map((kind) => [kind, { count: counts[kind] ?? 0, list: [`${kind} thing`] }]),
  ) as never,
  ...changes,
})
const measured = {
  ...{ fault, begunAt: 1_000, overAt: 4_000, kafkaGapMs: 700, troubles: [], slow: undefined, before: {} },
  audit: { clean: true, said: '{}' },
}

test('a fault passes if nothing was found, and reports whether its time goal was reached', () => {
  const result = resultOf({ ...measured, verdict: verdictWith({}) })
  expect(result).toMatchObject({
    outcome: 'passed',
    reached: true,
    longestMs: 1_500,
    lateForMs: 4_000,
    afterMs: 1_000,
    causeMs: 3_000,
  })
  expect(resultOf({ ...measured, verdict: verdictWith({ longestMs: 2_001 }) })).toMatchObject({
    outcome: 'passed',
    reached: false,
  })
})

test.each(findingKinds)('it fails for one %s, and not for one that an earlier fault has found', (kind) => {
  const verdict = verdictWith({}, { [kind]: 1 })
  expect(resultOf({ ...measured, verdict })).toMatchObject({ outcome: 'failed', why: [expect.stringContaining(`1 ${kind}`)] })
  expect(resultOf({ ...measured, verdict, before: { [kind]: 1 } }).outcome).toBe('passed')
})

test('it fails if the audit is not clean, if nothing fired, and if it could not be run', () => {
  const verdict = verdictWith({})
  expect(resultOf({ ...measured, verdict, audit: { clean: false, said: 'lost' } }).outcome).toBe('failed')
  expect(resultOf({ ...measured, verdict: verdictWith({ windowFires: 0 }) }).outcome).toBe('failed')
  expect(resultOf({ ...measured, verdict, troubles: ['it hung'] }).outcome).toBe('failed')
  // If the audit runs last, it judges all faults together.
  const pending = resultOf({ ...measured, verdict, audit: undefined })
  expect(pending).toMatchObject({ outcome: 'passed', audit: 'pending' })
  expect(withAudit(pending, { clean: true, said: '{}' })).toMatchObject({ outcome: 'passed', audit: 'clean' })
  expect(withAudit(pending, { clean: false, said: 'lost' })).toMatchObject({ outcome: 'failed', why: ['duelog audit: lost'] })
  // Slow does not mean wrong.
  expect(resultOf({ ...measured, verdict, slow: 'not on time' })).toMatchObject({ outcome: 'passed', reached: false })
})

test('a fault that was not run has its reason in the table, and does not look passed', () => {
  expect(tableOf([notRun(fault, 'there is no clock')])).toContain('not run: there is no clock')
  expect(tableOf([resultOf({ ...measured, verdict: verdictWith({}, { lost: 3 }) })])).toContain('3, 0, 0; FAILED')
})

test('on time means: nothing missing, nothing late recently, and no partition silent', () => {
  const now = 1_000_000
  const partitions = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [at, now - 100]))
  const status = { jobs: 1, missing: 0, oldest: null, lateAt: now - 6_000, fires: 1, partitions }
  const stage = { rate: 500, partitions: 12 }
  expect(isOnTime(status, stage, now)).toBe(true)
  expect(isOnTime({ ...status, missing: 1 }, stage, now)).toBe(false)
  expect(isOnTime({ ...status, lateAt: now - 4_000 }, stage, now)).toBe(false)
  expect(isOnTime({ ...status, partitions: { ...partitions, 3: now - 6_000 } }, stage, now)).toBe(false)
  expect(isOnTime({ ...status, partitions: { 0: now } }, stage, now)).toBe(false)
})

test('each fault has a unique name, and options without sense are refused', () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length)
  expect(faults.length).toBeGreaterThan(30)
  expect(readOptions(['--seed', '7', '--only', 'a,b'])).toMatchObject({ seed: 7, only: ['a', 'b'], jobs: 100_000, rate: 500 })
  for (const args of [['--seed', 'x'], ['--rate', '0'], ['--network', 'pigeons'], ['--nonsense']])
    expect(() => readOptions(args)).toThrow()
})
