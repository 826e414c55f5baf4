/** Port to the operations: changes of many jobs or dead runs, which go on in the background. */
import type { OperationCancel, OperationProgress, OperationRequest } from '../../schemas/index.ts'
import type { Asker } from './owner-queries.ts'

/** An operation as its records say. */
export interface Operation {
  id: string
  /** When it was asked for, epoch ms. */
  createdAt: number
  request: OperationRequest
  /** Undefined until a process has begun it. */
  progress: OperationProgress | undefined
  /** Undefined unless somebody cancelled it. */
  cancel: OperationCancel | undefined
}

export interface Operations {
  /**
   * Begins an operation. A repeat by the same actor with the same `key` returns the first. Rejects with `overloaded` if too many go on,
   * and with `payload-too-large` if its lists do not fit in a record.
   */
  create(request: OperationRequest, key?: string): Promise<Operation>
  /** The number of jobs or dead runs that it would find now. */
  count(request: OperationRequest, asker?: Asker): Promise<number>
  /** Rejects with `not-ready` while the topic cannot be read. */
  get(id: string): Promise<Operation | undefined>
  /** Newest first. */
  list(): Promise<Operation[]>
  /** Ends it early. Undefined: there is no such operation. An operation that has ended stays as it is. */
  cancel(id: string, actor: string | null): Promise<Operation | undefined>
}

export const hasEnded = ({ progress }: Operation): boolean => progress !== undefined && progress.endedAt !== null
