import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { collectGarbage } from '../../src/ground/process/heap.ts'

it('collects what nobody holds, and keeps no function for it', async () => {
  const held = new WeakRef({})
  // What a job has looked at is kept until the job ends.
  await setImmediate()
  collectGarbage()
  expect(held.deref()).toBeUndefined()
  expect('gc' in globalThis).toBe(false)
})
