/** Creates the operations of a process with the role api. */
import { type createOwnerDirectory, operationLimits } from '../api/index.ts'
import type { KafkaLog } from '../kafka/index.ts'
import type { RunningOperations } from '../operations/index.ts'
import type { LogWriter } from '../ports/index.ts'
import type { ProcessContext } from './process-context.ts'

interface OperationParts {
  writer: LogWriter
  admin: Awaited<ReturnType<KafkaLog['admin']>>
  owners: ReturnType<typeof createOwnerDirectory>
}

/** Undefined: this process does not have the role. */
export async function operationsOf(
  parts: ProcessContext,
  { writer, admin, owners }: OperationParts,
): Promise<RunningOperations | undefined> {
  const { config, log, codecs, names, partitions, instance, clock, logger, undo } = parts
  if (!config.roles.has('api')) return undefined
  const { createOperations } = await import('../operations/index.ts')
  const given = { log, admin, codecs, names, partitions, owners, instance, clock, logger, limits: operationLimits }
  const operations = createOperations(given, writer)
  undo.push(() => operations.stop())
  return operations
}
