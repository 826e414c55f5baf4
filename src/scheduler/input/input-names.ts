/** Unique names of the inputs of a fold, and the run that each is about. */
import type { Input, Timer, Waiter } from '../../../streams/state/index.ts'
import type { InputRecord } from './input-buffer.ts'

/** A name that no other timer has. */
export const timerName = ({ jobId, kind, runNo, dueAt }: Timer): string => `${kind} ${runNo} ${dueAt} ${jobId}`
export const waiterName = ({ jobId, key, runNo, dueAt }: Waiter): string => `admit ${runNo} ${dueAt} ${jobId} ${key}`
export const inputRecordName = ({ source, offset }: InputRecord): string => `${source} ${offset}`

/** The run that an input is about; 0: none. */
export function runOf(input: Input): number {
  if (input.kind === 'timer') return input.timer.runNo
  if (input.kind === 'event') return input.event.runNo
  return input.kind === 'admit' ? input.waiter.runNo : 0
}
