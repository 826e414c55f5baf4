/** Calls at a rate that does not depend on how long they take. */
import { setTimeout } from 'node:timers/promises'

/**
 * Calls `send` `n` times, at a random time of each slot of 1/perSecond, so that no other interval of the system is in step with it.
 * Resolves when all calls have.
 */
export async function openLoop(n: number, perSecond: number, send: (index: number) => Promise<void>): Promise<void> {
  const slotMs = 1_000 / perSecond
  const beganMs = performance.now()
  const open: Promise<void>[] = []
  for (let index = 0; index < n; index++) {
    const leftMs = beganMs + (index + Math.random()) * slotMs - performance.now()
    if (leftMs > 0) await setTimeout(leftMs)
    open.push(send(index))
  }
  await Promise.all(open)
}
