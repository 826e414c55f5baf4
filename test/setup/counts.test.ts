import { expect, test } from 'vitest'
import { countsOf, lineOf } from './counts.ts'

const file = (status: string, ...tests: string[]) => ({ status, assertionResults: tests.map((status) => ({ status })) })

test('counts passed, failed and skipped tests over all files', () => {
  const report = { testResults: [file('passed', 'passed', 'passed', 'skipped', 'todo'), file('failed', 'passed', 'failed')] }
  expect(lineOf(countsOf(report, false))).toBe('3 passed, 1 failed, 2 skipped')
})

test('omits skipped tests if there are none', () => {
  expect(lineOf(countsOf({ testResults: [file('passed', 'passed')] }, true))).toBe('1 passed, 0 failed')
})

test('counts a file that could not be loaded as one failure', () => {
  const report = { testResults: [file('failed'), file('passed', 'passed')] }
  expect(countsOf(report, false)).toEqual({ passed: 1, failed: 1, skipped: 0 })
})

test('counts a run that failed without a failed test as one failure', () => {
  expect(countsOf({ testResults: [file('passed', 'passed')] }, false).failed).toBe(1)
})

test('counts a run without a report as one failure', () => {
  expect(countsOf(undefined, false)).toEqual({ passed: 0, failed: 1, skipped: 0 })
})

test('counts a run without any test as one failure', () => {
  expect(countsOf({ testResults: [] }, true).failed).toBe(1)
})
