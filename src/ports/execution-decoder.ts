/** Decoder of execution records, also of records that no owner has written. */
import type { Execution } from '../../schemas/index.ts'
import { executionProblem, sizeProblem } from '../../streams/runs/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { Codec } from './log.ts'

/** Synchronous unless a schema has to be fetched. Throws or rejects with `undecodable`, also for values that no owner writes, and with `registry-unavailable`. */
export function decodeExecution(codec: Codec<Execution, never>, value: Buffer | null): Execution | Promise<Execution> {
  if (value === null) throw new DuelogError('undecodable', 'an execution without a value')
  const problem = sizeProblem(value)
  if (problem !== undefined) throw new DuelogError('undecodable', problem)
  const decoded = codec.decode(value)
  return decoded instanceof Promise ? decoded.then(sound) : sound(decoded)
}

function sound(execution: Execution): Execution {
  const problem = executionProblem(execution)
  if (problem !== undefined) throw new DuelogError('undecodable', problem)
  return execution
}
