/** Decoders of definitions and executions, also of records that no client and no owner of Duelog has written. */
import type { Execution, JobDefinition } from '../../../schemas/index.ts'
import { validateDefinition } from '../../../streams/definitions/index.ts'
import { executionProblem, sizeProblem } from '../../../streams/runs/index.ts'
import type { KnownDefinition, StoredDefinition } from '../../../streams/state/index.ts'
import { DuelogError, messageOf } from '../errors/index.ts'
import type { Codec } from '../ports/index.ts'

interface DefinitionCodecs {
  definition: Pick<Codec<JobDefinition, never>, 'decode'>
}

/** No valid definition is longer. A compressed record can hold a value of any length. */
const definitionBytesMax = 2 * 1024 * 1024
/** First bytes of the entry that replaces a value that is too long; its length follows. No Avro value begins so. */
const tooLongMark = Buffer.from([0xff, 0x4c])

/** The stored form of a definition's value: the value itself, unless it is too long. */
export function keptBytes(value: Buffer): Buffer {
  return value.length <= definitionBytesMax ? value : Buffer.concat([tooLongMark, Buffer.from(String(value.length))])
}

function lengthProblem(bytes: Buffer): string | undefined {
  if (bytes.length > 20 || !bytes.subarray(0, tooLongMark.length).equals(tooLongMark)) return undefined
  return `The definition has ${bytes.toString('latin1', tooLongMark.length)} bytes; at most ${definitionBytesMax}.`
}

/** Decodes and checks the value of a record in jobs. It is a pure function of the bytes, so a restore comes to the same result as the first reader. Synchronous unless the writer's schema has to be fetched. */
export function knownDefinition(codecs: DefinitionCodecs, record: StoredDefinition): KnownDefinition | Promise<KnownDefinition> {
  const problem = lengthProblem(record.bytes)
  if (problem !== undefined) return { ...record, problem }
  try {
    const decoded = codecs.definition.decode(record.bytes)
    if (!(decoded instanceof Promise)) return checked(record, decoded)
    return decoded.then(
      (spec) => checked(record, spec),
      (error) => refused(record, error),
    )
  } catch (error) {
    return refused(record, error)
  }
}

function checked({ offset, appendedAt, bytes }: StoredDefinition, spec: JobDefinition): KnownDefinition {
  const problems = validateDefinition(spec)
  if (problems.length === 0) return { offset, appendedAt, bytes, spec }
  return { offset, appendedAt, bytes, problem: problems.map((problem) => problem.message).join(' ') }
}

/** Without the registry the bytes may be valid, so the caller has to wait for it. */
function refused({ offset, appendedAt, bytes }: StoredDefinition, error: unknown): KnownDefinition {
  if (error instanceof DuelogError && error.code === 'registry-unavailable') throw error
  return { offset, appendedAt, bytes, problem: messageOf(error) }
}

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
