/**
 * The shutdown of a process. Its parts stop one after the other, in the reverse order of their start. Each part waits for the brokers, to
 * report its results and to leave its groups. If the brokers are unreachable, these waits add up to a minute. In that case all parts stop at
 * once, and one limit ends the wait. Nothing is lost: the next process does the work that was not committed, and its fence aborts open
 * transactions.
 */
import { atSteady, type Clock } from '../../ground/clock/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { KafkaLog } from '../kafka/index.ts'

/** How long a stop waits for unreachable brokers, in ms. */
export const awayMsMax = 5_000
/** No broker must answer for this long, in ms. If one of several is down, each request to it fails before another broker answers next. */
export const noticeMs = 1_000

/** Stops a part. */
export type Step = () => Promise<unknown>

export interface EndingOptions {
  /** Absent: no connection was opened. */
  log: Pick<KafkaLog, 'onAway'> | undefined
  clock: Clock
  logger: Pick<Logger, 'warn'>
  /** The limit has passed: open work is given up. */
  onGivenUp(): void
}

/** Calls the last step first. Resolves when all steps have ended or the limit has passed. Steps that continue then end by themselves or with the process. */
export async function endParts(steps: readonly Step[], options: EndingOptions): Promise<void> {
  const { log, clock, logger, onGivenUp } = options
  const away = Promise.withResolvers<void>()
  const late = Promise.withResolvers<void>()
  let cancelLimit: (() => void) | undefined
  const begun: Promise<unknown>[] = []
  void away.promise.then(() =>
    logger.warn(
      { event: 'stop-without-brokers' },
      `No broker answers: the stop waits for them for ${awayMsMax / 1_000} s at most. What is not committed is done by the next process.`,
    ),
  )
  const onAway = (isAway: boolean): void => {
    cancelLimit?.()
    cancelLimit = undefined
    if (!isAway) return
    const after = (ms: number, task: () => void): void => {
      cancelLimit = clock.at(atSteady(clock, clock.steadyMs() + ms), task)
    }
    after(noticeMs, () => {
      away.resolve()
      after(awayMsMax - noticeMs, () => {
        onGivenUp()
        late.resolve()
      })
    })
  }
  const cancelListener = log?.onAway(onAway)
  for (const step of [...steps].reverse()) {
    const ended = step().catch((error) => logger.warn({ event: 'stop-step-failed', err: error }, 'A part did not stop cleanly.'))
    begun.push(ended)
    await Promise.race([ended, away.promise])
  }
  await Promise.race([Promise.all(begun), late.promise])
  cancelLimit?.()
  cancelListener?.()
}
