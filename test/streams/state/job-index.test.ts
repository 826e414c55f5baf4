/** The keys by which a job is found: their bytes, and that they follow from the state of the job. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobDefinition } from '../../../schemas/generated.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import type { Job } from '../../../streams/state/job.ts'
import { indexKeysOf, indexKind, indexRange, jobIdOfIndexKey, mayChangeIndex } from '../../../streams/state/job-index.ts'

const jobOf = (more: object = {}, id = 'job-1'): Job => {
  const spec = completeDefinition({
    schedule: { at: 1 },
    target: { handler: 'mail' },
    tags: ['a', 'b'],
    ...more,
  }) as JobDefinition
  return { id, definition: { offset: 1, appendedAt: 0, bytes: Buffer.alloc(0), spec } }
}
const hex = (job: Job): string[] => indexKeysOf(job).map((key) => key.toString('hex'))
const bytes = (kind: number, value: string, id = 'job-1'): string =>
  Buffer.concat([Buffer.of(0x49, kind), Buffer.from(value), Buffer.of(0), Buffer.from(id)]).toString('hex')

describe('the index keys of a job', () => {
  it('are one for each tag', () => {
    expect(hex(jobOf())).toEqual([bytes(1, 'a'), bytes(1, 'b')])
    expect(hex(jobOf({ tags: [] }))).toEqual([])
  })

  it('name a status that few jobs have, and dead runs', () => {
    const job = jobOf({ tags: [] })
    const state = { ...pristineState(job), status: 'PAUSED' as const, deadRuns: [3] }
    expect(hex({ ...job, state })).toEqual([bytes(3, 'PAUSED'), bytes(4, '')])
    expect(hex({ ...job, state: { ...state, status: 'COMPLETED', deadRuns: [] } })).toEqual([])
  })

  it('are for a job without a state those of its first state', () => {
    const broken: Job = { id: 'x', definition: { offset: 1, appendedAt: 0, bytes: Buffer.alloc(0), problem: 'bad' } }
    for (const job of [jobOf(), jobOf({ paused: true }), broken]) {
      expect(hex(job)).toEqual(hex({ ...job, state: pristineState(job) }))
    }
  })

  it('are none after the deletion of the job', () => {
    expect(indexKeysOf({ id: 'job-1' })).toEqual([])
    expect(mayChangeIndex(jobOf(), { id: 'job-1' })).toBe(true)
  })

  it('are updated when they differ, and not for each run', () => {
    const plain = jobOf()
    const state = pristineState(plain)
    const jobs: Job[] = [
      plain,
      jobOf({ tags: ['a'] }),
      { ...plain, state },
      { ...plain, state: { ...state, status: 'PAUSED' } },
      { ...plain, state: { ...state, status: 'INVALID' } },
      { ...plain, state: { ...state, deadRuns: [1] } },
      { ...plain, state: { ...state, status: 'PAUSED', deadRuns: [1] } },
      { id: 'job-1' },
    ]
    for (const before of jobs)
      for (const after of jobs) if (String(hex(before)) !== String(hex(after))) expect(mayChangeIndex(before, after)).toBe(true)
    const later = { ...plain, state: { ...state, runNo: 9, succeeded: 9, nextFireAt: 5 } }
    expect(mayChangeIndex({ ...plain, state }, later)).toBe(false)
    expect(mayChangeIndex(plain, plain)).toBe(false)
  })
})

describe('a range of the index', () => {
  const ids = fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('a', 'b', '\u{10ffff}', '~', '!') })

  it('contains exactly the jobs of its value, in the order of their ids, after the last one of the page before', () => {
    fc.assert(
      fc.property(fc.uniqueArray(ids), fc.constantFrom('a', 'ab'), fc.option(ids, { nil: undefined }), (all, tag, after) => {
        const keys = all.flatMap((id) => indexKeysOf(jobOf({ tags: ['a', 'ab', 'abc'] }, id)))
        const { from, to } = indexRange(indexKind.tag, tag, after)
        const found = keys
          .filter((key) => Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) < 0)
          .sort(Buffer.compare)
          .map((key) => jobIdOfIndexKey(key, tag))
        const order = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right))
        expect(found).toEqual(all.filter((id) => after === undefined || order(id, after) > 0).sort(order))
      }),
    )
  })
})
