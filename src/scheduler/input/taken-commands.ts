/**
 * Which commands were taken before `job-commands` lost its end or was recreated; the topic may still hold them, or hold them again. A job
 * remembers its last 32 commands. For all others the append time of the last taken command decides (ADR 0049).
 */
import type { JobCommandType } from '../../../schemas/index.ts'
import type { Clock } from '../../clock/index.ts'
import type { RecordIn } from '../../ports/index.ts'
import type { ChangelogState } from '../state/index.ts'
import type { InputRecord } from './input-buffer.ts'

/** Unknown which commands were taken, because all of the state was lost. */
export const allTaken = -1

/** Unknown so far whether all of the state was lost. The next owner continues to find out. */
export const perhapsTaken = -2

export type Taken = Pick<ChangelogState, 'commandsUntil' | 'commandsAnewTo'>

const isUnknown = (commandsUntil: number): boolean => commandsUntil === allTaken || commandsUntil === perhapsTaken

/** Whether the command was taken before. If all decisions are lost, PAUSE and RESUME are applied again, and nothing else is done twice. */
export function wasTaken({ offset, timestampMs, byBroker }: RecordIn, type: JobCommandType, known: Taken): boolean {
  if (offset >= known.commandsAnewTo) return false
  if (isUnknown(known.commandsUntil)) return type !== 'PAUSE' && type !== 'RESUME'
  return byBroker === true && timestampMs <= known.commandsUntil
}

/** The part of LogPositions (log-positions.ts) that is needed. */
interface CommandPositions {
  readonly logged: Readonly<Taken>
  readonly applied: { readonly commands: number }
  readonly hasReports: boolean
}

/**
 * The values for the committed position once these records are applied. The owner's clock limits the append time, so a broker
 * whose clock is ahead does not make later commands look taken.
 */
export function commandsRead(
  { logged, applied, hasReports }: CommandPositions,
  clock: Pick<Clock, 'nowMs'>,
  inputRecords: readonly InputRecord[],
): Taken {
  let { commandsUntil, commandsAnewTo } = logged
  // The position may pass the only report that shows it, and the next owner does not read that report again.
  if (commandsUntil === perhapsTaken && hasReports) commandsUntil = allTaken
  for (const { source, offset, appendedAt } of inputRecords) {
    if (source !== 'commands' || offset < commandsAnewTo) continue
    if (isUnknown(commandsUntil)) commandsUntil = 0
    commandsUntil = Math.max(commandsUntil, Math.min(appendedAt ?? 0, clock.nowMs()))
  }
  if (applied.commands >= commandsAnewTo && !isUnknown(commandsUntil)) commandsAnewTo = 0
  return { commandsUntil, commandsAnewTo }
}
