/**
 * Executions that were dispatched longer before their time than any lead may be: their owner's clock was ahead then. They are given back, or
 * they would be held for hours, and nothing behind them could be committed.
 */
import type { Execution } from '../../../schemas/index.ts'
import type { RecordIn } from '../../ports/index.ts'

/** Twice the most that DUELOG_LEAD_MS_MAX allows. */
export const misdatedMsMin = 120_000

/**
 * By the brokers' time, where the topic keeps it; else the record's is that of the owner's own clock, and says nothing. Who is not tracked
 * cannot be given back: the owner knows of it no more.
 */
export const isMisdated = ({ tracked, dueAt }: Execution, { timestampMs }: RecordIn): boolean =>
  tracked && dueAt - timestampMs > misdatedMsMin
