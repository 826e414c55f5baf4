/** Operations on many jobs, as the owner of a partition carries them out: a hook of the commit cycle. */
export { BulkOperations } from './bulk-changes.ts'
