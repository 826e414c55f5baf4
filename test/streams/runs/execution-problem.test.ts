/** Which records of the executions topics a worker accepts. Every client with write access can write to these topics. */
import { describe, expect, it } from 'vitest'
import type { Execution } from '../../../schemas/generated.ts'
import { executionProblem, sizeProblem } from '../../../streams/runs/dispatch.ts'
import { JobHistory } from './history.ts'

const [written] = new JobHistory().define({ target: { handler: 'mail', pool: 'slow' } }).until(1_000).dispatched
const execution = (more: Partial<Execution> = {}): Execution => ({ ...(written ?? expect.fail()), ...more })
const word = (length: number): string => 'x'.repeat(length)

describe('an execution', () => {
  it.each<[string, Partial<Execution>]>([
    ['that an owner wrote', {}],
    ['of a later run and attempt', { runNo: 9_000_000, attempt: 70 }],
    ['with the longest names', { handler: word(255), pool: word(255), life: word(255) }],
    ['without a handler, for a topic of the user', { handler: '' }],
  ])('%s is accepted', (_, more) => {
    expect(executionProblem(execution(more))).toBeUndefined()
  })
  it.each<[string, Partial<Execution>, RegExp]>([
    ['of a job that cannot be', { jobId: '' }, /./],
    ['whose job id has a control character', { jobId: 'a\u0000b' }, /./],
    ['of no run', { runNo: 0 }, /Run 0, attempt 1: both begin with 1/],
    ['of no attempt', { attempt: 0 }, /Run 1, attempt 0: both begin with 1/],
    ['of a run that is no number', { runNo: Number.NaN }, /both begin with 1/],
    ['that is due at no time', { dueAt: Number.NaN }, /The time NaN is none/],
    ['that is due beyond all time', { dueAt: 2 ** 60 }, /is none/],
    ['with a handler of any length', { handler: word(256) }, /more than 255 characters/],
    ['with a pool of any length', { pool: word(256) }, /more than 255 characters/],
    ['with a life of any length', { life: word(256) }, /more than 255 characters/],
  ])('%s is passed over with the reason', (_, more, reason) => {
    expect(executionProblem(execution(more))).toMatch(reason)
  })
})

it('a record of more than 2 MB is not even decoded', () => {
  const most = 2 * 1024 * 1024
  expect(sizeProblem(Buffer.alloc(most))).toBeUndefined()
  expect(sizeProblem(Buffer.alloc(most + 1))).toBe('The value has 2097153 bytes; at most 2097152.')
})
