/** The auditor's share of its process's time. Only counts are asked for, no speed: how often it lets others run. */
import { performance } from 'node:perf_hooks'
import { expect, it } from 'vitest'
import { Pacing } from '../../src/audit/pacing.ts'

const workFor = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

it('works on while a slice is not over, and rests after it in proportion to the work', async () => {
  const pacing = new Pacing(() => 0.1)
  await pacing.work(async () => {
    expect(pacing.rest()).toBeUndefined()
    workFor(5)
    const from = performance.now()
    await pacing.rest()
    // 9 parts of rest for 1 of work; a timer is never early by more than its rounding.
    expect(performance.now() - from).toBeGreaterThanOrEqual(43)
    expect(pacing.rest()).toBeUndefined()
  })
})

it('counts work that came in many small pieces, with nothing between them', async () => {
  const pacing = new Pacing(() => 0.5)
  let rests = 0
  for (let piece = 0; piece < 20; piece++)
    await pacing.work(async () => {
      workFor(1)
      const rest = pacing.rest()
      if (rest !== undefined) rests++
      await rest
    })
  expect(rests).toBeGreaterThanOrEqual(9)
})

it('lets the rest of the process run after each slice, also where it may have all of the time', async () => {
  const pacing = new Pacing(() => 1)
  let others = 0
  const other = setInterval(() => others++, 0)
  await pacing.work(async () => {
    for (let slice = 0; slice < 20; slice++) {
      workFor(3)
      await pacing.rest()
    }
  })
  clearInterval(other)
  expect(others).toBeGreaterThanOrEqual(10)
})
