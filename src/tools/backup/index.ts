/** Copies of a whole system: into a file, and from it into topics with any number of partitions. */
export { type BackupOptions, type BackupResult, backup, type ReshardOptions, type ReshardResult, reshard } from './backup.ts'
export { type CarryOptions, carry } from './carry.ts'
export { type UnfenceOptions, unfence } from './fence.ts'
export { type RestoreOptions, type RestoreResult, restore } from './restore.ts'
export type { BackupCounts } from './writing.ts'
