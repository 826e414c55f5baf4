/** The simulated build of the proof: its job says how many attempts it takes, how long each is, and whether the last one fails too. */
import { setTimeout as wait } from 'node:timers/promises'

export async function build(run) {
  const { attempts, dead, durationMs } = run.payload
  await wait(durationMs, undefined, { signal: run.signal })
  if (dead || run.attempt < attempts) throw new Error(`a flaky build failed at attempt ${run.attempt}`)
  return { attempt: run.attempt }
}
