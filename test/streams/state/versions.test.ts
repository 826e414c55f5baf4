/** Valid definitions that are not accepted: an older version, or one that was sent twice. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { onlyNewHeader, onlyOverHeader, onlyOverHeaders, onlyOverOf } from '../../../streams/state/condition.ts'
import { definitionOf } from '../jobs/samples.ts'
import { JobHistory } from '../runs/history.ts'

type Definition = Partial<JobDefinitionInput>
const every = (everyMs: number, more: Definition = {}): Definition => ({ schedule: { everyMs }, ...more })
const interval = (job: JobHistory): number | null | undefined => job.job.definition?.spec?.schedule.everyMs

describe('a version token', () => {
  it.each<[string, number | null, number | null, taken: boolean]>([
    ['lower than that in force is dropped', 5, 4, false],
    ['equal to that in force is taken', 5, 5, true],
    ['higher than that in force is taken', 5, 6, true],
    ['that is absent is taken', 5, null, true],
    ['where there was none is taken', null, 0, true],
  ])('%s (%j, then %j)', (_, first, second, taken) => {
    const job = new JobHistory().define(every(1_000, { version: first })).define(every(700, { version: second }))
    expect(interval(job)).toBe(taken ? 700 : 1_000)
  })
  it('is compared with the one in force, not with a dropped or replaced one', () => {
    const job = new JobHistory()
      .define(every(1_000, { version: 5 }))
      .define(every(700, { version: 3 }))
      .define(every(500, { version: 4 }))
    expect(interval(job)).toBe(1_000)
    expect(interval(job.define(every(300)).define(every(200, { version: 1 })))).toBe(200)
  })
  it('has no effect on an invalid definition, in either direction', () => {
    const job = new JobHistory().define(every(1_000, { version: 5 })).garble()
    expect(job.state.status).toBe('INVALID')
    expect(interval(job.define(every(700, { version: 1 })))).toBe(700)
  })
  it('ends with the job', () => {
    const job = new JobHistory()
      .define(every(1_000, { version: 5 }))
      .remove()
      .define(every(700, { version: 1 }))
    expect(interval(job)).toBe(700)
  })
})

describe('a dedupKey', () => {
  const keyed = (everyMs: number, more: Definition = {}): Definition =>
    every(everyMs, { dedupKey: 'k', dedupWindowMs: 500, ...more })
  const sentAgain = (time: number, more: Definition = {}): JobHistory =>
    new JobHistory().define(keyed(1_000)).until(time).define(keyed(700, more))
  it('that is repeated within the window is dropped, whatever else the definition contains', () => {
    expect(interval(sentAgain(0))).toBe(1_000)
    expect(interval(sentAgain(500))).toBe(1_000)
  })
  it('that is repeated after the window is accepted', () => {
    expect(interval(sentAgain(501))).toBe(700)
  })
  it('that is different, or none, is accepted at once', () => {
    expect(interval(sentAgain(100, { dedupKey: 'other' }))).toBe(700)
    expect(interval(sentAgain(100, { dedupKey: null }))).toBe(700)
  })
  it('has a window that counts from the one in force: repetitions do not extend it', () => {
    const job = sentAgain(400).until(800).define(keyed(600))
    expect(interval(job)).toBe(600)
  })
  it('also drops a definition with a higher version', () => {
    const job = new JobHistory().define(keyed(1_000, { version: 1 })).define(keyed(700, { version: 2 }))
    expect(interval(job)).toBe(1_000)
  })
  it('ends with the job', () => {
    expect(interval(new JobHistory().define(keyed(1_000)).remove().define(keyed(700)))).toBe(700)
  })
})

describe('a definition that was dropped', () => {
  const dropped = (time = 0): JobHistory => {
    const job = new JobHistory().define(every(1_000, { version: 5, payload: Buffer.from('in force') })).until(time)
    return job.define(every(300, { version: 4, payload: Buffer.from('dropped') }))
  }
  it('changes no time, no payload and no state except the note about it', () => {
    const job = dropped(1_500).until(2_000)
    expect(job.fired).toEqual([1_000, 2_000])
    expect(job.dispatched.map(({ payload }) => String(payload))).toEqual(['in force', 'in force'])
    expect(job.state).toMatchObject({
      specOffset: 0,
      status: 'ACTIVE',
      decisions: [{ at: 1_500, what: 'DROPPED', reason: 'stale-version' }],
    })
  })
  it('is remembered by its reason', () => {
    const twice = { dedupKey: 'k', dedupWindowMs: 500 }
    const job = new JobHistory().define(twice).define(twice).define(twice)
    expect(job.state.decisions).toMatchObject([{ what: 'DROPPED', reason: 'duplicate', count: 2 }])
  })
  it('revives no COMPLETED job, and does not end a pause', () => {
    const cancelled = dropped()
      .command('CANCEL')
      .define(every(300, { version: 4 }))
    expect(cancelled.state.status).toBe('COMPLETED')
    expect(
      dropped()
        .command('PAUSE')
        .define(every(300, { version: 4 })).state.status,
    ).toBe('PAUSED')
  })
  it('makes the changelog keep the one in force, because jobs may lose it to compaction; once is enough', () => {
    const job = dropped()
    expect(job.kept?.offset).toBe(0)
    expect(job.state.definitionKept).toBe(true)
    expect(job.define(every(200, { version: 3 })).last.keptDefinition).toBeUndefined()
  })
  it.each<[string, (job: JobHistory) => unknown]>([
    ['by one that is taken', (job) => job.define(every(700, { version: 6 }))],
    ['by one that cannot be used', (job) => job.garble()],
    ['by a deletion', (job) => job.remove()],
  ])('needs no kept copy of the other after that is replaced %s', (_, act) => {
    const job = dropped()
    act(job)
    expect(job.kept).toBeNull()
  })
  it.each([0, 1_500])('never takes effect after a restore, also without any run: %d ms', (time) => {
    const job = dropped(time)
    const { definition, state } = job.job
    const record = { offset: 1, appendedAt: time, spec: definitionOf(every(300, { version: 4 })) }
    // The store has the definition in force. Compaction left only the later record in jobs, and it is read as decided.
    const restored = new JobHistory()
    restored.job = { id: 'job', state, definition }
    expect(restored.definition(record, true).job).toEqual({ id: 'job', state, definition })
    // The store is empty. The definition in force comes from the changelog, with the state or after the later record.
    const empty = new JobHistory()
    empty.job = { id: 'job', state }
    expect(empty.definition(record, true).job).toEqual({ id: 'job', state })
    expect(empty.definition({ ...definition }, true).job).toEqual({ id: 'job', state, definition })
  })
})

describe('a condition of a definition', () => {
  const over = (condition: number | 'any' | 'none', first = new JobHistory().define(every(1_000))): JobHistory =>
    first.define(every(700), false, condition)
  it('holds over the definition that it names, and with any over the one in force', () => {
    expect(interval(over(0))).toBe(700)
    expect(interval(over('any'))).toBe(700)
  })
  it('that asks for none makes a missing job, and otherwise drops the definition', () => {
    expect(interval(over('none', new JobHistory()))).toBe(700)
    const job = over('none')
    expect(interval(job)).toBe(1_000)
    expect(job.state.decisions.at(-1)).toMatchObject({ what: 'DROPPED', reason: 'precondition' })
  })
  it('drops the definition if another is in force, and says so', () => {
    const job = over(0, new JobHistory().define(every(1_000)).define(every(900)))
    expect(interval(job)).toBe(900)
    expect(job.state.decisions.at(-1)).toMatchObject({ what: 'DROPPED', reason: 'precondition' })
    expect(job.state).toMatchObject({ definitionKept: true, droppedOffset: 2 })
  })
  it('lets one of two that name the same definition win: the first in the log', () => {
    const job = new JobHistory().define(every(1_000)).define(every(900), false, 0).define(every(800), false, 0)
    expect(interval(job)).toBe(900)
  })
  it('defines no missing job, and removes its record from the log', () => {
    for (const job of [over('any', new JobHistory()), over(0, new JobHistory().define(every(1_000)).remove())]) {
      expect(job.job.definition).toBeUndefined()
      expect(job.job.state).toBeUndefined()
      expect(job.out.at(-1)).toMatchObject({ kind: 'tombstone' })
    }
  })
  it('of a deletion lets it win over that definition only, whatever was dropped since', () => {
    const job = new JobHistory().define(every(1_000)).define(every(900), false, 0).define(every(800), false, 0)
    expect(interval(job.remove({ onlyOver: 0 }))).toBe(900)
    expect(job.state.definitionKept).toBe(true)
    expect(job.remove({ onlyOver: 1 }).job).toEqual({ id: 'job' })
  })
  it('is not checked again for decisions of an owner: with a state it held, without one it did not', () => {
    expect(interval(new JobHistory().define(every(700), true, 5))).toBeUndefined()
    const { state } = new JobHistory().define(every(700), false, 'none')
    expect(state).toMatchObject({ specOffset: 0, status: 'ACTIVE' })
    const restored = new JobHistory()
    restored.job = { id: 'job', state }
    expect(interval(restored.define(every(700), true, 5))).toBe(700)
  })
})

it('conditions are read from headers; an unreadable one never holds', () => {
  const read = (text: string) => onlyOverOf({ [onlyOverHeader]: Buffer.from(text) })
  expect([onlyOverOf({}), read('12'), read('*'), read('12x'), read('')]).toEqual([undefined, 12, 'any', -1, -1])
  expect([onlyOverOf({ [onlyNewHeader]: Buffer.from('') }), onlyOverHeaders('none')]).toEqual(['none', { [onlyNewHeader]: '' }])
  expect(onlyOverHeaders('any')).toEqual({ [onlyOverHeader]: '*' })
  expect(onlyOverHeaders(3)).toEqual({ [onlyOverHeader]: '3' })
})
