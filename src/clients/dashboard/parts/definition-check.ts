/** What stands in the text of a definition, and what the server says about it. */
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { JsonText, oneLineJson, readJson } from '../../../../streams/text/index.ts'
import {
  api,
  type FieldProblem,
  type JobDefinition,
  offsetOfField,
  type PlannedJob,
  parseSource,
  placeOf,
  problemFrom,
} from '../model/index.ts'
import type { Mark } from './json-editor.tsx'

const checkAfterMs = 300
/** The next check after one without an answer. */
const againAfterMs = 3_000

export interface DefinitionCheck {
  /** Undefined while the text cannot be read. */
  definition: JobDefinition | undefined
  marks: Mark[]
  /** The server's answer about this text; undefined while it is awaited. */
  planned: PlannedJob | undefined
  /** Why the server could not be asked. */
  away: string
}

interface Answer {
  of: JobDefinition
  id: string
  planned?: PlannedJob
  problems: readonly FieldProblem[]
  away: string
}

/** `id` may be empty while it is not known. */
export function useDefinitionCheck(id: string, text: ReadonlySignal<string>): DefinitionCheck {
  const { definition, problems: unreadable } = useComputed(() => readDefinition(text.value)).value
  const checked = useSignal<Answer | undefined>(undefined)
  const failed = useRef(false)
  const tries = useSignal(0)
  useEffect(() => {
    if (definition === undefined) return
    const ended = new AbortController()
    const wait = setTimeout(
      async () => {
        const answer = await planOf(id, definition, ended.signal)
        if (answer === undefined) return
        checked.value = answer
        failed.current = answer.away !== ''
        if (failed.current) tries.value++
      },
      failed.current ? againAfterMs : checkAfterMs,
    )
    return () => {
      clearTimeout(wait)
      ended.abort()
    }
  }, [definition, id, tries.value])
  const last = checked.value
  const isOfThis = last !== undefined && last.of === definition && last.id === id
  // What was wrong stays in view until the next answer, so that nothing flickers while the user types.
  const problems = definition === undefined ? unreadable : (last?.problems ?? [])
  const marks = useMemo(() => marksOf(text.value, problems), [text.value, problems])
  const planned = isOfThis ? last.planned : undefined
  return { definition, marks, planned, away: isOfThis ? last.away : '' }
}

/** Nothing is written. Undefined: the check was ended. */
async function planOf(id: string, definition: JobDefinition, signal: AbortSignal): Promise<Answer | undefined> {
  const of = { of: definition, id }
  try {
    const jobs = [{ ...definition, id: id === '' ? 'new' : id }]
    const answer = await api.planJobs({ body: { jobs, maxFires: 1 }, signal })
    const [planned] = answer.jobs
    if (planned === undefined) return { ...of, problems: [], away: 'The server did not check it.' }
    if (planned.action !== 'INVALID') return { ...of, planned, problems: [], away: '' }
    const found = planned.problems ?? []
    const message = planned.reason ?? 'The definition would not be accepted.'
    return { ...of, problems: found.length > 0 ? found : [{ field: '', limit: '', message }], away: '' }
  } catch (error) {
    if (signal.aborted) return undefined
    const { problems, status, message } = problemFrom(error)
    if (problems.length > 0) return { ...of, problems, away: '' }
    if (status >= 400 && status < 500 && status !== 429) return { ...of, problems: [{ field: '', limit: '', message }], away: '' }
    return { ...of, problems: [], away: message }
  }
}

/** Messages by line and column. A field that is missing is shown where it belongs. */
function marksOf(text: string, problems: readonly FieldProblem[]): Mark[] {
  if (problems.length === 0) return []
  const { root, fault } = parseSource(text)
  if (fault !== undefined) return [{ text: fault.text, field: '', ...placeOf(text, fault.at) }]
  const marks = problems.map(({ field, message }): Mark => {
    if (root === undefined || field === '' || field === 'id') return { text: message, field }
    return { text: message, field, ...placeOf(text, offsetOfField(root, field)) }
  })
  return marks.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
}

interface DefinitionRead {
  definition?: JobDefinition
  problems: readonly FieldProblem[]
}

/** The last texts and what they say: at each key the editor asks about the present text, and about the one that it began with. */
const known = new Map<string, DefinitionRead>()
const knownMax = 3

function readDefinition(text: string): DefinitionRead {
  const read = known.get(text) ?? readText(text)
  known.delete(text)
  known.set(text, read)
  const [oldest] = known.keys()
  if (known.size > knownMax && oldest !== undefined) known.delete(oldest)
  return read
}

function readText(text: string): DefinitionRead {
  const refused = (message: string): DefinitionRead => ({ problems: [{ field: '', limit: '', message }] })
  try {
    const { value, problems } = readJson(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refused('The definition must be a JSON object.')
    if (problems.length > 0) return { problems: problems.map(({ field, limit, message }) => ({ field, limit, message })) }
    const definition = value as JobDefinition
    // Line breaks that the editor added must not reach handlers.
    if (definition.payload instanceof JsonText) definition.payload = compact(definition.payload.text)
    return { definition, problems: [] }
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error))
  }
}

/** Undefined if the text cannot be read. */
export const definitionOf = (text: string): JobDefinition | undefined => readDefinition(text).definition

/** The parsed value if it writes back as the same text; else the text itself. Throws if it is no JSON. */
export function compact(text: string): unknown {
  const line = oneLineJson(text)
  const value: unknown = JSON.parse(line)
  return JSON.stringify(value) === line ? value : new JsonText(line)
}
