/**
 * The end of a process: its parts stop one after the other, the last that began first. Each has waits of its own for the brokers, to tell them
 * what was done and that it leaves, and where those are away these add up to a minute. Then all parts stop at once, and one limit ends the
 * waiting: nothing is lost by it, as whatever was not committed is done by who comes next, whose fence ends what was open.
 */
import type { Logger } from 'pino'
import { atSteady, type Clock } from '../clock/index.ts'
import type { KafkaLog } from '../kafka/index.ts'

/** How long a stop waits for brokers that are away, in ms. */
export const awayMsMax = 5_000
/** So long none has to answer, in ms: one of several that is down is heard of whenever it is asked, before the next answer of another. */
export const noticeMs = 1_000

/** Stops a part. */
export type Step = () => Promise<unknown>

export interface EndingOptions {
  /** Absent: no connection was opened. */
  log: Pick<KafkaLog, 'onAway'> | undefined
  clock: Clock
  logger: Pick<Logger, 'warn'>
  /** The limit is over: what is under way is given up. */
  onGivenUp(): void
}

/** Calls the last step first. Resolves when all have ended, or the limit has; what goes on then ends by itself, or with the process. */
export async function endParts(steps: readonly Step[], options: EndingOptions): Promise<void> {
  const { log, clock, logger, onGivenUp } = options
  const away = Promise.withResolvers<void>()
  const late = Promise.withResolvers<void>()
  let callOff: (() => void) | undefined
  const begun: Promise<unknown>[] = []
  void away.promise.then(() =>
    logger.warn(
      `No broker answers: the stop waits for them for ${awayMsMax / 1_000} s at most. What is not committed is done by the next process.`,
    ),
  )
  const heard = (isAway: boolean): void => {
    callOff?.()
    callOff = undefined
    if (!isAway) return
    const after = (ms: number, task: () => void): void => {
      callOff = clock.at(atSteady(clock, clock.steadyMs() + ms), task)
    }
    after(noticeMs, () => {
      away.resolve()
      after(awayMsMax - noticeMs, () => {
        onGivenUp()
        late.resolve()
      })
    })
  }
  const endHearing = log?.onAway(heard)
  for (const step of [...steps].reverse()) {
    const ended = step().catch((error) => logger.warn({ err: error }, 'A part did not stop cleanly.'))
    begun.push(ended)
    await Promise.race([ended, away.promise])
  }
  await Promise.race([Promise.all(begun), late.promise])
  callOff?.()
  endHearing?.()
}
