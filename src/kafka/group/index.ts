/** Partition assignment within a group, and the metadata that members exchange. Pure. */
export { type AssignerKind, assignerOf, coPartitioned, protocolOf } from './assignors.ts'
export { assignedOf, metadataOf } from './member-metadata.ts'
export { readUserData, userDataOf } from './member-user-data.ts'
export { RevokedPartitions } from './revoked-partitions.ts'
