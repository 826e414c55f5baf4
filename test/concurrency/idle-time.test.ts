/** Searches that can wait rest the longer, the busier the loop is, and go on in any case. */
import { expect, it } from 'vitest'
import { IdleTime, lookMs, restMsMax, restsMax, restsMin } from '../../src/ground/concurrency/idle-time.ts'

/** A loop of which a test says how busy it is. */
function loop() {
  let [nowMs, busyMs] = [0, 0]
  const rests: number[] = []
  const meter = { nowMs: () => nowMs, busyMs: () => busyMs }
  const spare = new IdleTime(meter, async (ms) => void rests.push(ms))
  return {
    rests,
    /** So much time passes, of which the loop is busy for a share; then a piece of 1 ms has been searched. */
    async piece(ms: number, share: number): Promise<number> {
      nowMs += ms
      busyMs += ms * share
      await spare.rest(1)
      return rests.at(-1) ?? Number.NaN
    },
  }
}

it('rest as long as they take while nothing else is to do', async () => {
  const { piece } = loop()
  for (let index = 0; index < 20; index++) expect(await piece(lookMs, 0.5)).toBe(restsMin)
})

it('rest longer and longer while the loop is busy, up to a limit, and shorter again afterwards', async () => {
  const { piece, rests } = loop()
  // By then each rest is over.
  const ms = lookMs + restsMax
  while ((await piece(ms, 1)) < restsMax);
  expect(rests).toEqual([2, 4, 8, 16, 32, 64])
  expect(await piece(ms, 1)).toBe(restsMax)
  expect(await piece(ms, 0.5)).toBeLessThan(restsMax)
  for (let index = 0; index < 100; index++) await piece(ms, 0.5)
  expect(rests.at(-1)).toBe(restsMin)
})

it('are not judged by a moment, nor by what was long ago', async () => {
  const { piece } = loop()
  for (let index = 0; index < 9; index++) expect(await piece(lookMs / 10, 1)).toBe(restsMin)
  while ((await piece(2 * lookMs, 1)) < restsMax);
  expect(await piece(60_000, 1)).toBe(restsMin)
})

it('rest one after another, so that many take no more than one', async () => {
  const rests: number[] = []
  let nowMs = 0
  const spare = new IdleTime({ nowMs: () => nowMs, busyMs: () => 0 }, async (ms) => void rests.push(ms))
  await Promise.all([spare.rest(2), spare.rest(3), spare.rest(4)])
  nowMs = 100
  await spare.rest(2)
  expect(rests).toEqual([2, 5, 9, 2])
})

it('do not keep those waiting who have hardly searched', async () => {
  const rests: number[] = []
  const spare = new IdleTime({ nowMs: () => 0, busyMs: () => 0 }, async (ms) => void rests.push(ms))
  await Promise.all([spare.rest(150), spare.rest(150), spare.rest(0.02), spare.rest(0), spare.rest(1)])
  expect(rests).toEqual([150, 300, 0, 0, 301])
})

it('do not rest for longer than a limit after a piece that waited for the processor', async () => {
  const rests: number[] = []
  await new IdleTime({ nowMs: () => 0, busyMs: () => 0 }, async (ms) => void rests.push(ms)).rest(60_000)
  expect(rests).toEqual([restMsMax])
})
