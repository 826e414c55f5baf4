/** The auditor's share of its process's time. Only counts are asked for, no speed: how often it lets others run. */
import { performance } from 'node:perf_hooks'
import { expect, it } from 'vitest'
import { Pacing } from '../../src/auditor/pacing.ts'

/** Pacing by a clock that goes on only where the test says so. */
function paced(share: number) {
  let nowMs = 0
  const rests: number[] = []
  const restFor = async (ms: number): Promise<void> => {
    rests.push(ms)
    nowMs += ms
  }
  const workFor = (ms: number): void => {
    nowMs += ms
  }
  return {
    pacing: new Pacing(
      () => share,
      () => nowMs,
      restFor,
    ),
    rests,
    workFor,
  }
}

it('works until a slice is over, and pauses after it in proportion to the work', async () => {
  const { pacing, rests, workFor } = paced(0.1)
  await pacing.work(async () => {
    expect(pacing.rest()).toBeUndefined()
    workFor(5)
    await pacing.rest()
    // 9 parts of rest for 1 of work.
    expect(rests).toEqual([45])
    expect(pacing.rest()).toBeUndefined()
    workFor(60)
    await pacing.rest()
    expect(rests).toEqual([45, 100])
  })
})

it('counts work that came in many small pieces without pauses', async () => {
  const { pacing, rests, workFor } = paced(0.5)
  for (let piece = 0; piece < 20; piece++)
    await pacing.work(async () => {
      workFor(1)
      await pacing.rest()
    })
  expect(rests).toEqual(Array.from({ length: 10 }, () => 2))
})

it('lets the rest of the process run after each slice, also if it may use all of the time', async () => {
  const pacing = new Pacing(() => 1)
  const workFor = (ms: number): void => {
    const until = performance.now() + ms
    while (performance.now() < until);
  }
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
