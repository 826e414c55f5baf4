/** What a definition with trackRuns false may not contain. */
import { describe, expect, it } from 'vitest'
import { definitionFromJson } from '../../../streams/definitions/definition-json.ts'

const refusals = (more: object): string[] => {
  const job = { schedule: { everyMs: 1_000 }, target: { handler: 'noop' }, trackRuns: false, ...more }
  const found = definitionFromJson(job)
  return found.ok ? [] : found.problems.map(({ message }) => message)
}

describe('a definition with trackRuns false', () => {
  it.each([
    ['nothing else', {}],
    ['what a worker can keep by itself', { attemptTimeoutMs: 500, startDeadlineMs: 5_000, priority: 'HIGH' }],
    [
      'what the owner keeps before',
      { catchUp: 'ALL', maxRuns: 3, jitterMs: 10, expireAt: 9, paused: true, retainCompletedMs: 0 },
    ],
    ['one attempt, which is what it gets', { retry: { maxAttempts: 1 } }],
    ['the default retry spelt out, which does not apply', { retry: { maxAttempts: 5 } }],
    ['a webhook', { target: { http: { url: 'https://example.org/' } } }],
  ])('is accepted with %s', (_, more) => {
    expect(refusals(more)).toEqual([])
  })
  it.each([
    [
      { overlap: 'SKIP' },
      'overlap is "SKIP", but trackRuns is false: the owner does not learn when a run ends; allowed: ALLOW, or trackRuns true.',
    ],
    [{ overlap: 'QUEUE_ONE' }, 'overlap is "QUEUE_ONE"'],
    [{ overlap: 'CANCEL_PREVIOUS' }, 'overlap is "CANCEL_PREVIOUS"'],
    [{ maxConcurrentRuns: 3 }, 'maxConcurrentRuns is 3'],
    [{ schedule: { everyMs: 1_000, from: 'END' } }, 'schedule.from is "END"'],
    [{ onSuccess: ['next'] }, 'onSuccess is an array'],
    [{ onFailure: ['next'] }, 'onFailure is an array'],
    [{ retry: { maxAttempts: 3 } }, 'retry.maxAttempts is 3'],
    [{ retry: { jitter: 0.5 } }, 'retry.maxAttempts is 5'],
    [{ pinTo: 'gpu' }, 'pinTo is "gpu"'],
    [{ target: { topic: { name: 't' } } }, 'target.topic is an object'],
  ])('is refused with %j, with a sentence', (more, sentence) => {
    const [first = '', ...others] = refusals(more)
    expect(first.slice(0, sentence.length)).toBe(sentence)
    expect(others).toEqual([])
    expect(refusals({ ...more, trackRuns: true })).toEqual([])
  })
  it('may limit how many runs wait for the starts of its rateLimit', () => {
    expect(refusals({ maxConcurrentRuns: 100, rateLimit: { key: 'k', limit: 1, perMs: 1_000 } })).toEqual([])
  })
})
