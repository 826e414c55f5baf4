/** What an audit looks at, and what it may find. */

/**
 * lost: a run that was made, and of which nobody knows how it ended. missed: an occurrence without a run. duplicate: one attempt dispatched
 * twice, or two runs for one nominal time. early: started before it was due. overdue: a job that waits for a time that has passed.
 * undispatched: an attempt that stands as handed out or ended, of which there is no dispatch. gap: a run number that no run has.
 * ended-twice: a run that ended, and ended or went on again.
 */
export const findingKinds = ['lost', 'missed', 'duplicate', 'early', 'overdue', 'undispatched', 'gap', 'ended-twice'] as const
export type FindingKind = (typeof findingKinds)[number]

export interface Finding {
  kind: FindingKind
  /** Job id, or run as `jobId/runNo`. */
  what: string
  detail: string
}

/** Told of each finding, with the nominal time that it is about; undefined: of none. */
export type Find = (kind: FindingKind, what: string, detail: string, nominal: number | undefined) => void

export interface Scope {
  /** Nominal times from here on, epoch ms. */
  from: number
  /** Exclusive. */
  to: number
  /** How long after its due time something may still be on its way, in ms. */
  graceMs: number
}

/** Why something cannot be judged: its job has too many open runs; its definition was not read; its calendar is too long, or skips too much. */
export const unjudgedReasons = ['runs', 'definition', 'calendar'] as const
export type Unjudged = (typeof unjudgedReasons)[number]
