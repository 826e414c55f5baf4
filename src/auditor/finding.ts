/** The scope of an audit, and the kinds of its findings. */

/**
 * lost: a run that was created, and whose end is unknown. missed: an occurrence without a run. duplicate: one attempt dispatched
 * twice, or two runs for one nominal time. early: started before it was due. overdue: a job that waits for a time that has passed.
 * undispatched: an attempt whose status is dispatched or ended, without a dispatch in the log. gap: a run number that no run has.
 * ended-twice: a run that ended, and then ended or continued again.
 */
export const findingKinds = ['lost', 'missed', 'duplicate', 'early', 'overdue', 'undispatched', 'gap', 'ended-twice'] as const
export type FindingKind = (typeof findingKinds)[number]

export interface Finding {
  kind: FindingKind
  /** Job id, or run as `jobId/runNo`. */
  what: string
  detail: string
}

/** Called for each finding, with its nominal time; undefined: it has none. */
export type Find = (kind: FindingKind, what: string, detail: string, nominal: number | undefined) => void

export interface Scope {
  /** Nominal times from here on, epoch ms. */
  from: number
  /** Exclusive. */
  to: number
  /** How long after its due time a record may still arrive, in ms. */
  graceMs: number
}

/** Why something cannot be judged: its job has too many open runs; its definition was not read; its calendar is too long, or skips too much. */
export const unjudgedReasons = ['runs', 'definition', 'calendar'] as const
export type Unjudged = (typeof unjudgedReasons)[number]
