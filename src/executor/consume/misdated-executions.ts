/**
 * Executions that were dispatched longer before their time than any lead allows: their owner's clock was ahead. They are given
 * back. Otherwise they would be held for hours, and nothing after them could be committed.
 */
import type { Execution } from '../../../schemas/index.ts'
import type { RecordIn } from '../../ports/index.ts'

/** Twice the maximum of DUELOG_LEAD_MS_MAX. */
export const misdatedMsMin = 120_000

/**
 * By the brokers' time, if the topic keeps it. Otherwise the record has the time of the owner's own clock, which proves nothing.
 * An untracked run cannot be given back: its owner has forgotten it.
 */
export const isMisdated = ({ tracked, dueAt }: Execution, { timestampMs }: RecordIn): boolean =>
  tracked && dueAt - timestampMs > misdatedMsMin
