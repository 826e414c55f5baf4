/** Every error that a user can get. */
export { DuelogError, type ErrorCode, errorTable, isOfRecord, messageOf } from './errors.ts'
export { requireKnown } from './known-options.ts'
