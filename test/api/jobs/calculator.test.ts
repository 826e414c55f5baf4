/** Calculations in a thread, which ends with the first that takes too long. */
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../../src/ground/clock/clock.ts'
import { identifiedDefinitionOf } from '../../../src/server/api/http/request-values.ts'
import type { Calculations } from '../../../src/server/api/jobs/calculations.ts'
import { Calculator } from '../../../src/server/api/jobs/calculator.ts'
import { calculationMsMax, calculatorStartMsMax } from '../../../src/server/api/schemas/limits.ts'
import { readJson } from '../../../streams/text/json-text.ts'
import { definitionOf } from '../../streams/jobs/samples.ts'

/** `onBegun` is called with what ends the limit of a calculation, once it has been given to the thread. */
function calculatorWith(onBegun: (limit: () => void) => void = () => {}): Calculator {
  const at = (dueMs: number, run: () => void): (() => void) => {
    if (dueMs === calculationMsMax) setImmediate(onBegun, run)
    return () => {}
  }
  const calculator = new Calculator({ nowMs: () => 0, at })
  onTestFinished(() => calculator.stop())
  return calculator
}

type Of<Name extends keyof Calculations> = Parameters<Calculations[Name]>
const endless: Of<'countBackfill'> = [definitionOf({ schedule: { everyMs: 1 } }), 0, { from: 0, to: 1e15, max: 1e15 }]
const soon: Of<'preview'> = [{ everyMs: 1_000 }, 0, 2]
const times = { ok: true, fires: [{ atMs: 1_000 }, { atMs: 2_000 }] }

it('a calculation that takes too long is refused, and the next one is answered', async () => {
  const limits: (() => void)[] = []
  const calculator = calculatorWith((limit) => {
    if (limits.push(limit) === 1) limit()
  })
  const late = calculator.run('countBackfill', () => endless)
  // The second is asked for before the first is refused.
  const next = calculator.run('preview', () => (limits.length === 0 ? [{ everyMs: 1_000 }, 9_000, 2] : soon))
  await expect(late).rejects.toMatchObject({ code: 'bad-request', message: /took longer than 2 s/ })
  expect(await next).toMatchObject(times)
})

it('a calculation ends when its caller has gone, and the next one is answered', async () => {
  const gone = new AbortController()
  const calculator = calculatorWith(() => gone.abort(new Error('gone')))
  const left = calculator.run('countBackfill', () => endless, { caller: 'one', signal: gone.signal })
  const next = calculator.run('preview', () => soon, { caller: 'one' })
  await expect(left).rejects.toThrow('gone')
  expect(await next).toMatchObject(times)
})

it('a start that takes too long is refused, and goes on for the next caller', async () => {
  const ended = vi.spyOn(Worker.prototype, 'terminate')
  let starts = 0
  const at = (dueMs: number, run: () => void): (() => void) => {
    if (dueMs === calculatorStartMsMax && ++starts === 1) setImmediate(run)
    return () => {}
  }
  const calculator = new Calculator({ nowMs: () => 0, at })
  onTestFinished(() => calculator.stop())
  await expect(calculator.run('preview', () => soon)).rejects.toMatchObject({ code: 'overloaded', message: /did not start/ })
  expect(await calculator.run('preview', () => soon)).toMatchObject(times)
  expect(ended).not.toHaveBeenCalled()
})

it('bytes of a definition in force and of a new one come to the thread as they are', async () => {
  const calculator = new Calculator(systemClock)
  onTestFinished(() => calculator.stop())
  const textOf = (payload: string): string =>
    `{"id":"a","schedule":{"everyMs":1000},"target":{"handler":"noop"},"payload":${payload}}`
  const toPlan = ['{"n":1.0}', '{"n":1}'].map((payload) => {
    const { definition: spec } = identifiedDefinitionOf(readJson(textOf(payload), JSON.parse, true).value)
    return { text: textOf('{"n":1.0}'), job: { id: 'a', definition: { offset: 1, appendedAt: 0, bytes: Buffer.alloc(0), spec } } }
  })
  const planned = await calculator.run('plan', () => [
    toPlan,
    { range: { from: 0, to: 1, max: 1 }, isRedacted: false, partitions: 4 },
  ])
  expect(planned.map((each) => 'plan' in each && each.plan.changed)).toEqual([[], ['payload']])
})
