/** What an audit looks at, and what it may find. */

export type FindingKind = 'duplicate' | 'early' | 'lost' | 'missed' | 'overdue'

export interface Finding {
  kind: FindingKind
  /** Job id, or run as `jobId/runNo`. */
  what: string
  detail: string
}

export interface Scope {
  /** Nominal times from here on, epoch ms. */
  from: number
  /** Exclusive. */
  to: number
  /** When the log was read. */
  now: number
  /** How long after its due time something may still be on its way, in ms. */
  graceMs: number
}
