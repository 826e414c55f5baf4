/** The options of the operations, from src/program/system. */
import type { JobCommand, JobCommandInput, OperationRecord, OperationRecordInput } from '../../../schemas/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import type { Semaphore } from '../../ground/concurrency/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Codec, Log, LogAdmin, LogWriter, PartitionQueries } from '../../ground/ports/index.ts'

/** What operations ask the owner of a partition. */
export type AskedOwner = Pick<PartitionQueries, 'targets' | 'change' | 'announce' | 'applied' | 'why' | 'job'>

/** Rejects with `not-ready` if the partition has no owner that answers. */
export type Ask = <Answer>(question: (owner: AskedOwner) => Promise<Answer>) => Promise<Answer>

export interface OperationsOptions {
  log: Pick<Log, 'reader' | 'writer'>
  admin: Pick<LogAdmin, 'offsets'>
  codecs: { command: Codec<JobCommand, JobCommandInput>; operation: Codec<OperationRecord, OperationRecordInput> }
  names: TopicNames
  partitions: number
  /** Rejects with `not-ready` if the partition has no owner that answers. */
  owners: { ask<Answer>(partition: number, question: (owner: AskedOwner) => Promise<Answer>): Promise<Answer> }
  /** name@host:pid:boot of this process. */
  instance: string
  clock: Clock
  logger: Logger
  limits: OperationLimits
}

/** What one operation needs to be carried out. */
export interface OperationTools extends OperationsOptions {
  writer: Pick<LogWriter, 'write'>
  /** Pages of all operations of this process at once. */
  pages: Semaphore
}

/** See src/server/api/schemas/limits.ts, which has the values. */
export interface OperationLimits {
  operationsActiveMax: number
  operationsPerCallerMax: number
  operationsReserved: number
  operationsKeptMax: number
  operationsKeptMs: number
  operationMsMax: number
  operationsCaughtUpMs: number
  recordBytesMax: number
}
