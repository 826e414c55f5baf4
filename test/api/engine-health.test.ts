/** Probes of a front tell of its engine too. */
import { expect, test } from 'vitest'
import type { Health } from '../../src/ground/ports/roles.ts'
import { engineHealth } from '../../src/server/api/routes/system-routes.ts'
import { ManualClock, rest } from '../tools/manual-clock.ts'

const well: Health = { live: true, ready: true, reasons: [] }

test('a front is ready if its engine is, and names the reasons of both', async () => {
  const clock = new ManualClock(0)
  let engine = well
  const health = engineHealth(
    () => ({ live: true, ready: false, reasons: ['No broker.'] }),
    async () => engine,
    clock,
  )
  expect(await health()).toEqual({ live: true, ready: false, reasons: ['No broker.'] })
  engine = { live: false, ready: false, reasons: ['Partition 1 hangs.'] }
  await clock.advance(250)
  expect(await health()).toEqual({ live: false, ready: false, reasons: ['No broker.', 'Partition 1 hangs.'] })
})

test('a flood of probes asks the engine four times a second at most', async () => {
  const clock = new ManualClock(0)
  let asked = 0
  const health = engineHealth(
    () => well,
    async () => {
      asked++
      return well
    },
    clock,
  )
  for (let ms = 0; ms < 1_000; ms += 10) {
    await Promise.all(Array.from({ length: 10 }, health))
    await clock.advance(10)
  }
  expect(asked).toBe(4)
})

test.each([
  ['that is silent', () => new Promise<Health>(() => {})],
  ['that refuses', () => Promise.reject(new Error('refused'))],
])('a front with an engine %s is not live', async (_, ask) => {
  const clock = new ManualClock(0)
  const found = engineHealth(() => well, ask, clock)()
  await rest()
  await clock.advance(3_000)
  expect(await found).toMatchObject({ live: false, ready: false, reasons: [expect.stringContaining('has not answered')] })
})
