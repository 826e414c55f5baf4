/** Mark: a record that every reader skips. Its writer finds the end of a log (ADR 0018) or learns the broker's time (ADR 0039). */

export const markHeader = 'duelog-mark'
/** Key of a mark. No job can have this id, so compaction removes no definition because of it. */
export const markKey = '\u0000duelog-mark'
