/** What the audit trail calls the changes that can be asked for. */
export type AuditAction =
  | 'PUT'
  | 'CREATE'
  | 'DELETE'
  | 'BATCH'
  | 'TRIGGER'
  | 'PAUSE'
  | 'RESUME'
  | 'CANCEL'
  | 'BACKFILL'
  | 'CANCEL_RUN'
  | 'REDRIVE'
  | 'REDRIVE_MANY'
