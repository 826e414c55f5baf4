/** Every error that a user can get. */
export { DuelogError, type ErrorCode, errorTable, GroupNotKept, isOfRecord, messageOf } from './errors.ts'
export { callOptions, requireKnown, requireLogger, requireNode } from './known-options.ts'
