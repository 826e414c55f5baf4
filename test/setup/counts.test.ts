import { expect, test } from 'vitest'
import { countsOf, lineOf, storiesOf } from './counts.ts'

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

test('has the last lines of what failed tests told, and nothing of those that passed', () => {
  const long = Array.from({ length: 30 }, (_, line) => `line ${line}`).join('\n')
  const tests = [
    { status: 'failed', fullName: 'breaks', meta: { stories: [long, 'x'.repeat(500)] } },
    { status: 'failed', fullName: 'is silent', meta: {} },
    { status: 'passed', fullName: 'works', meta: { stories: ['fine'] } },
  ]
  const told = storiesOf({ testResults: [{ status: 'failed', assertionResults: tests }] })
  expect(told.slice(0, 2)).toEqual(['breaks:', 'line 18'])
  expect(told.slice(-2)).toEqual(['line 29', 'x'.repeat(200)])
  expect(storiesOf(undefined)).toEqual([])
})
