import { describe, expect, it } from 'vitest'
import type { ExecutionEvent, ExecutionEventType } from '../../schemas/generated.ts'
import { RunAccounts } from '../../src/program/demo/run-accounts.ts'

const dueAt = 1_000
const backoffMs = [250, 1_000]

/** Books of two occurrences, `a` and `b`, with what may be entered in one word each. */
function books() {
  const ledger = new RunAccounts(
    [
      { id: 'a', dueAt },
      { id: 'b', dueAt },
    ],
    backoffMs,
  )
  const dispatch = (jobId: string, { runNo = 1, attempt = 1, at = dueAt } = {}): void =>
    ledger.execution({ jobId, runNo, attempt, dueAt: at })
  const event = (type: ExecutionEventType, jobId: string, more: Partial<ExecutionEvent> = {}): void =>
    ledger.event({ type, jobId, runNo: 1, attempt: 1, worker: 'w', startedAt: dueAt, at: dueAt, ...more })
  const runWell = (jobId: string): void => {
    dispatch(jobId)
    event('STARTED', jobId)
    event('SUCCEEDED', jobId)
    ledger.finished(jobId, { status: 'SUCCEEDED' })
  }
  return { ledger, dispatch, event, runWell }
}

describe('the books of the demo', () => {
  it('find nothing where each occurrence ran once', () => {
    const { ledger, runWell } = books()
    runWell('a')
    expect(ledger.complete).toBe(false)
    runWell('b')
    expect(ledger.complete).toBe(true)
    expect(ledger.verdict()).toEqual({
      ...{ expected: 2, started: 2, succeeded: 2, retried: 0, dead: 0 },
      ...{ lost: [], duplicate: [], early: [], unexpected: [] },
      lateness: { p50: 0, p99: 0, max: 0 },
    })
  })
  it('find lost what was never dispatched, never started or never ended', () => {
    const { ledger, dispatch, event, runWell } = books()
    runWell('b')
    expect(ledger.verdict().lost).toEqual(['a'])
    dispatch('a')
    expect(ledger.verdict().lost).toEqual(['a'])
    event('STARTED', 'a')
    expect(ledger.verdict().lost).toEqual(['a'])
    ledger.finished('a', { status: 'SUCCEEDED' })
    expect(ledger.verdict().lost).toEqual([])
  })
  it('accept no end of a run that started without a dispatch', () => {
    const { ledger, event, runWell } = books()
    runWell('b')
    event('SUCCEEDED', 'a')
    ledger.finished('a', { status: 'SUCCEEDED' })
    expect(ledger.verdict().lost).toEqual(['a'])
  })
  it('count a dead run only with its dead letter', () => {
    const { ledger, dispatch, event } = books()
    dispatch('a')
    event('FAILED', 'a')
    ledger.finished('a', { status: 'DEAD' })
    expect(ledger.verdict()).toMatchObject({ dead: 0, lost: ['a', 'b'] })
    ledger.deadLetter('a')
    expect(ledger.verdict()).toMatchObject({ dead: 1, lost: ['b'] })
  })
  it('count an expired run as lost', () => {
    const { ledger, dispatch, runWell } = books()
    runWell('b')
    dispatch('a')
    ledger.finished('a', { status: 'EXPIRED' })
    expect(ledger.verdict().lost).toEqual(['a'])
  })
  it('find doubled what was dispatched twice', () => {
    const { ledger, dispatch, runWell } = books()
    runWell('a')
    runWell('b')
    dispatch('a')
    expect(ledger.verdict().duplicate).toEqual(['a'])
  })
  it('find doubled what has a second run', () => {
    const { ledger, dispatch, runWell } = books()
    runWell('a')
    runWell('b')
    dispatch('b', { runNo: 2 })
    expect(ledger.verdict().duplicate).toEqual(['b'])
  })
  it('find doubled an attempt that two workers started, or one worker twice', () => {
    for (const again of [{ worker: 'other' }, { startedAt: dueAt + 7 }]) {
      const { ledger, event, runWell } = books()
      runWell('a')
      runWell('b')
      event('STARTED', 'a', again)
      expect(ledger.verdict().duplicate).toEqual(['a'])
    }
  })
  it('do not count a retry as a duplicate', () => {
    const { ledger, dispatch, event, runWell } = books()
    runWell('b')
    dispatch('a')
    event('FAILED', 'a', { at: dueAt + 20 })
    dispatch('a', { attempt: 2, at: dueAt + 270 })
    event('SUCCEEDED', 'a', { attempt: 2, startedAt: dueAt + 270 })
    ledger.finished('a', { status: 'SUCCEEDED' })
    expect(ledger.verdict()).toMatchObject({ duplicate: [], early: [], lost: [], retried: 1, succeeded: 2 })
  })
  it('find early a first attempt before the planned time, whatever was dispatched', () => {
    const { ledger, dispatch, event } = books()
    dispatch('a', { at: dueAt - 5 })
    event('STARTED', 'a', { startedAt: dueAt - 1 })
    expect(ledger.verdict().early).toEqual(['a'])
  })
  it('find early a retry before its backoff is over, whatever was dispatched', () => {
    const { ledger, dispatch, event } = books()
    dispatch('a')
    event('FAILED', 'a', { at: dueAt + 20 })
    dispatch('a', { attempt: 2, at: dueAt + 100 })
    event('STARTED', 'a', { attempt: 2, startedAt: dueAt + 269 })
    expect(ledger.verdict().early).toEqual(['a'])
  })
  it('name runs that were not expected', () => {
    const { ledger, runWell } = books()
    for (const id of ['a', 'b', 'c']) runWell(id)
    expect(ledger.verdict()).toMatchObject({ unexpected: ['c'], expected: 2, started: 2, succeeded: 2 })
  })
  it('measure how late each first attempt started', () => {
    const { ledger, event } = books()
    event('STARTED', 'a', { startedAt: dueAt + 3 })
    event('STARTED', 'b', { startedAt: dueAt + 40 })
    expect(ledger.verdict().lateness).toEqual({ p50: 3, p99: 40, max: 40 })
  })
  it('have no lateness where nothing started', () => {
    expect(books().ledger.verdict().lateness).toBeUndefined()
  })
})
