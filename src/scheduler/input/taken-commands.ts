/**
 * Commands that were taken before `job-commands` lost its end or began anew, and stand in it still, or again. A job remembers its last 32
 * commands; which of all were taken is told by the append time of the last one (ADR 0049).
 */
import type { JobCommandType } from '../../../schemas/index.ts'
import type { Clock } from '../../clock/index.ts'
import type { RecordIn } from '../../ports/index.ts'
import type { ChangelogState } from '../state/index.ts'
import type { InputRecord } from './input-buffer.ts'

/** Nobody knows which were taken: all of the state was lost. */
export const allTaken = -1

/** Nobody has found out yet whether all of the state was lost. Who claims next goes on finding out. */
export const perhapsTaken = -2

export type Taken = Pick<ChangelogState, 'commandsUntil' | 'commandsAnewTo'>

const isUnknown = (commandsUntil: number): boolean => commandsUntil === allTaken || commandsUntil === perhapsTaken

/** Whether the command was taken before. Where all that was decided is lost, who paused a job still means it, and nothing else is done twice. */
export function wasTaken({ offset, timestampMs, byBroker }: RecordIn, type: JobCommandType, known: Taken): boolean {
  if (offset >= known.commandsAnewTo) return false
  if (isUnknown(known.commandsUntil)) return type !== 'PAUSE' && type !== 'RESUME'
  return byBroker === true && timestampMs <= known.commandsUntil
}

export interface CommandsContext {
  changelogState: Taken
  /** Next offsets that are part of the store. */
  applied: { commands: number }
  shared: { clock: Pick<Clock, 'nowMs'> }
  /** Whether reports of runs were read since the claim. Default: none were. */
  hasReports?: () => boolean
}

/** What a position says once these are folded. A broker whose clock is ahead makes no later command one of before. */
export function commandsRead(
  { changelogState, applied, shared, hasReports }: CommandsContext,
  inputRecords: readonly InputRecord[],
): Taken {
  let { commandsUntil, commandsAnewTo } = changelogState
  // The position may pass the one report that shows it: whoever claims next does not read that again.
  if (commandsUntil === perhapsTaken && hasReports?.() === true) commandsUntil = allTaken
  for (const { source, offset, appendedAt } of inputRecords) {
    if (source !== 'commands' || offset < commandsAnewTo) continue
    if (isUnknown(commandsUntil)) commandsUntil = 0
    commandsUntil = Math.max(commandsUntil, Math.min(appendedAt ?? 0, shared.clock.nowMs()))
  }
  if (applied.commands >= commandsAnewTo && !isUnknown(commandsUntil)) commandsAnewTo = 0
  return { commandsUntil, commandsAnewTo }
}
