/**
 * The recent commands of a job, so that a repeated command does nothing. A sender that does not know whether its command arrived sends it
 * again, and a log may hold it twice. The first one counts, also if it was refused or had no effect: a repeated RESUME must not end a
 * later pause.
 */
import type { JobState } from '../../schemas/index.ts'
import { hashFraction } from '../hashing/index.ts'

/** Commands that a job remembers. */
export const commandsKept = 32

/** Whether the job has taken a command with this id: one of the last 32, or the command of an active run, the backfill or the last run. */
export function isRepeated({ recentCommands, active, lastRun, backfill }: JobState, commandId: string): boolean {
  return (
    recentCommands.includes(markOf(commandId)) || [...active, lastRun, backfill].some((made) => made?.commandId === commandId)
  )
}

export function remembered({ recentCommands }: JobState, commandId: string): number[] {
  return [...recentCommands, markOf(commandId)].slice(-commandsKept)
}

/** Without these commands, which their senders send again. */
export function forgotten({ recentCommands }: JobState, commandIds: readonly string[]): number[] {
  const marks = new Set(commandIds.map(markOf))
  return recentCommands.filter((mark) => !marks.has(mark))
}

/** 52 bits of an id, so that the state stays small whatever ids senders choose. The chance that one of 32 others collides is 1 in 10¹⁴. */
export function markOf(commandId: string): number {
  // The second hash has its extra character in front. Behind the text it would not help: FNV-1a continues equally after an equal hash.
  const [high, low] = [hashFraction(commandId), hashFraction(`\u0000${commandId}`)]
  return high * 2 ** 52 + Math.floor(low * 2 ** 20)
}
