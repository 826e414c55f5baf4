/** Every error that a user can meet. */
export { DuelogError, type ErrorCode, errorTable, isOfRecord, messageOf } from './errors.ts'
