/** Members of groups: what they tell one another, how their groups share partitions, and what they do with those that they lose. */
export { coPartitioned } from './assignors.ts'
export { readUserData, userDataOf } from './member-user-data.ts'
export { KafkaGroupReader, RevokedPartitions } from './reader.ts'
