/** A definition from a request, or the error with everything that is wrong with it. */
import type { JobDefinition } from '../../../schemas/index.ts'
import { definitionFromJson, validateJobId } from '../../../streams/definitions/index.ts'
import { notAllowed } from '../../../streams/text/index.ts'
import { RequestError } from './problem.ts'
import { mask, redactedPlaces } from './redact.ts'

/** The id if it is valid. Throws `bad-job-id`. */
export function checkedId(id: string): string {
  const problem = validateJobId(id)
  if (problem !== undefined) throw new RequestError('bad-job-id', [problem])
  return id
}

/** `id`: from the path or made by the server. Throws `bad-definition`. */
export function definitionOf(json: unknown, id: string): JobDefinition {
  const read = definitionFromJson(json, { id })
  if (!read.ok) throw new RequestError('bad-definition', read.problems)
  refuseMasks(json)
  return read.definition
}

/** Refuses a definition with masks instead of values. Throws `bad-definition`. */
export function refuseMasks(json: unknown): void {
  const limit = `values themselves, not ${mask}, which stands for what a viewer is not shown`
  const problems = redactedPlaces(json as Record<string, unknown>).map((place) => notAllowed(place, mask, limit))
  if (problems.length > 0) throw new RequestError('bad-definition', problems)
}

/** A definition that carries its id. Throws `bad-definition` or `bad-job-id`. */
export function identifiedDefinitionOf(json: unknown): { id: string; definition: JobDefinition } {
  const given = givenId(json)
  if (given !== undefined) checkedId(given)
  const read = definitionFromJson(json, { idRequired: true })
  if (!read.ok) throw new RequestError('bad-definition', read.problems)
  return { id: read.id ?? '', definition: read.definition }
}

/** The id in a JSON value, whatever else is wrong with it. */
export function givenId(json: unknown): string | undefined {
  const id = typeof json === 'object' && json !== null ? (json as { id?: unknown }).id : undefined
  return typeof id === 'string' ? id : undefined
}
