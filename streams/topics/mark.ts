/** A record without meaning, that every reader passes over: it finds the end of a log (ADR 0018), and learns the broker's time (ADR 0039). */

export const markHeader = 'duelog-mark'
/** Its key. No job can have it for an id, so compaction removes no definition for it. */
export const markKey = '\u0000duelog-mark'
