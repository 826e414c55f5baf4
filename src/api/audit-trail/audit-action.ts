/** Names of changes in the audit trail. */
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
