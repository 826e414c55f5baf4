import { describe, expect, it } from 'vitest'
import { Load, type LoadOptions, runsMax } from '../../src/program/generate/plan.ts'
import { definitionFromJson } from '../../streams/definitions/definition-json.ts'

const options: LoadOptions = {
  rate: 100,
  durationS: 10,
  kind: 'at',
  delayMs: 1_000,
  runs: 3,
  everyMs: 500,
  handler: 'noop',
  pool: 'default',
  payloadBytes: 0,
  mix: new Map([['NORMAL', 1]]),
}
const nowMs = 1_800_000_000_000
const load = (more: Partial<LoadOptions> = {}): Load => new Load({ ...options, ...more }, 'x')

describe('a load', () => {
  it('has as many jobs as the rate makes in its duration, and at least one', () => {
    expect(load().jobs).toBe(1_000)
    expect(load({ rate: 0.1, durationS: 1 }).jobs).toBe(1)
  })

  it('has one run for each job due once, and as many as asked for of each that recurs', () => {
    expect(load().runs).toBe(1_000)
    expect(load({ kind: 'cron' }).runs).toBe(3_000)
    expect(load({ kind: 'every' }).runs).toBe(3_000)
  })

  it('sends the first job at once, the others at the rate, and none after the last', () => {
    expect([0, 9, 10, 95, 1_000, 60_000].map((ms) => load().dueAfter(ms))).toEqual([1, 1, 2, 10, 101, 1_000])
  })

  it('spreads the priorities evenly by their shares', () => {
    const mixed = load({
      mix: new Map<'HIGH' | 4 | 0, number>([
        ['HIGH', 1],
        [4, 2],
        [0, 1],
      ]),
    })
    const priorities = Array.from({ length: 8 }, (_, index) => mixed.job(index, nowMs).priority)
    expect(priorities.slice(0, 4)).toEqual(priorities.slice(4))
    expect(priorities.slice(0, 4).toSorted()).toEqual([0, 4, 4, 'HIGH'])
  })

  it.each(['at', 'every', 'cron'] as const)('makes valid definitions of kind %s, with the payload that is asked for', (kind) => {
    const job = load({ kind, payloadBytes: 300 }).job(7, nowMs)
    const read = definitionFromJson(job, { idRequired: true })
    expect(read).toMatchObject({ ok: true })
    if (!read.ok) return
    expect(read.definition.payload).toHaveLength(300)
    expect(read.definition.maxRuns).toBe(kind === 'at' ? null : 3)
  })

  it('knows its own jobs by their ids', () => {
    const mine = load()
    expect(mine.indexOf(mine.job(12, nowMs).id)).toBe(12)
    for (const id of ['generate-x-1000', 'generate-x-', 'generate-x--1', 'generate-x-1.5', 'generate-y-1', 'other']) {
      expect(mine.indexOf(id)).toBeUndefined()
    }
  })

  it('is refused when it has more runs than can be remembered, or reaches beyond a day', () => {
    expect(() => load({ rate: 100_000, durationS: 86_400 })).toThrow(`at most ${runsMax}`)
    expect(() => load({ kind: 'every', everyMs: 86_400_000 })).toThrow('at most 86400000')
  })
})
