/** Who of a group gets which partition, and what members tell one another. Pure. */
export { type AssignerKind, createAssigner } from './assignors.ts'
export { assignedOf, metadataOf } from './member-metadata.ts'
export { readUserData, userDataOf } from './member-user-data.ts'
