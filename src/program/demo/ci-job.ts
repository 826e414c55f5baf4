/**
 * The simulated CI build: the outcome of each occurrence, and the handler that produces it. The hash of the occurrence's id
 * chooses the outcome. Most builds succeed at the first attempt, some are flaky, and a few always fail.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { hashFraction } from '../../../streams/text/index.ts'
import { type Handler, NonRetryableError } from '../../worker/executor/index.ts'

export const handlerName = 'ci-build'

export interface SimulatedOutcome {
  /** Attempts until it ends. */
  attempts: number
  /** Whether the last attempt fails too. */
  dead: boolean
  /** Whether it fails with an error that is not retried. */
  hopeless: boolean
  /** How long an attempt takes. */
  durationMs: number
}

export const attemptsMax = 4
/**
 * Delays before the retries. The first is shorter than the smallest delay topic, so it waits in the time index alone. The second
 * is exactly that topic. The third is that topic and a residue in the time index.
 */
export const backoffMs: readonly number[] = [250, 1_000, 1_500]

/** Cumulative shares of all occurrences. */
const hopelessShare = 0.003
const brokenShare = 0.006
const thriceShare = 0.012
const twiceShare = 0.035
const onceShare = 0.1

/** A CI job that takes minutes takes some hundred milliseconds in a day of one minute. */
const durationMsMin = 20
const durationMsMax = 600

export function simulatedOutcomeOf(id: string): SimulatedOutcome {
  const share = hashFraction(`fate ${id}`)
  const durationMs = durationMsMin + Math.floor(hashFraction(`duration ${id}`) ** 2 * (durationMsMax - durationMsMin))
  const fate = (attempts: number, dead = false, hopeless = false): SimulatedOutcome => ({ attempts, dead, hopeless, durationMs })
  if (share < hopelessShare) return fate(1, true, true)
  if (share < brokenShare) return fate(attemptsMax, true)
  if (share < thriceShare) return fate(4)
  if (share < twiceShare) return fate(3)
  return share < onceShare ? fate(2) : fate(1)
}

export const ciBuild: Handler = async (run) => {
  const { attempts, dead, hopeless, durationMs } = simulatedOutcomeOf(run.jobId)
  await wait(durationMs, undefined, { signal: run.signal })
  if (hopeless) throw new NonRetryableError('the build has no such target')
  if (run.attempt < attempts || dead) throw new Error(`a flaky build failed at attempt ${run.attempt}`)
  return { built: (run.payload as { name: string }).name, attempt: run.attempt }
}
