/**
 * A client of Kafka: writers, members of groups, readers, questions to brokers, over connections that are watched for silence. What
 * it uses of kafkajs, and what it changes there, is known here only (ADR 0125).
 */
export { type Acl, BrokerAdmin, type PartitionInfo, type TopicSetting } from './admin.ts'
export type { BoundedRead, Span } from './bounded-reader.ts'
export { KafkaClient } from './client.ts'
export type { Logger, LogOptions } from './connection.ts'
export type { GroupProtocol, Joined } from './coordinator.ts'
export { faultOf, retryWhile, rootTypeOf, withRetry } from './errors.ts'
export type { GroupMember } from './group-member.ts'
export { batchBytesMax } from './produce.ts'
export type { Sasl } from './sign-in.ts'
