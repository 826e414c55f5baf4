/**
 * The commands that a job has taken, so that one that comes again does nothing: a sender that does not know whether its command arrived
 * sends it once more, and a log may hold it twice. The first that was taken counts, also if it was refused or had nothing to do: a
 * RESUME that comes again must not end a pause that was asked for after it.
 */
import type { JobState } from '../../schemas/index.ts'
import { hashFraction } from '../hashing/index.ts'

/** Commands that a job remembers. */
export const commandsKept = 32

/** Whether the job has taken a command of this id: one of the last, or one whose run or backfill goes on, or whose run ended last. */
export function isRepeated({ recentCommands, active, lastRun, backfill }: JobState, commandId: string): boolean {
  return (
    recentCommands.includes(markOf(commandId)) || [...active, lastRun, backfill].some((made) => made?.commandId === commandId)
  )
}

export function remembered({ recentCommands }: JobState, commandId: string): number[] {
  return [...recentCommands, markOf(commandId)].slice(-commandsKept)
}

/** 52 bits of an id, so that the state stays small whatever senders choose: 32 others collide with it once in 10¹⁴ times. */
export function markOf(commandId: string): number {
  // A second hash needs a prefix: after equal texts the first would go on alike.
  const [high, low] = [hashFraction(commandId), hashFraction(`\u0000${commandId}`)]
  return high * 2 ** 52 + Math.floor(low * 2 ** 20)
}
