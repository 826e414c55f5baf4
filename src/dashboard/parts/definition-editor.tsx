/** Editor of a definition as JSON, and a preview of its fires. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { JsonText, oneLineJson, readJson, writeJson } from '../../../streams/text/index.ts'
import { type DueTime, type JobDefinition, RequestProblem } from '../model/index.ts'
import { FireList, preview } from './next-fires.tsx'
import { Empty } from './states.tsx'

const previewAfterMs = 300

export function DefinitionEditor({ text }: { text: Signal<string> }) {
  return (
    <textarea
      class="code"
      aria-label="Definition as JSON"
      aria-describedby="json-problem"
      spellcheck={false}
      value={text.value}
      rows={Math.min(40, Math.max(16, text.value.split('\n').length + 1))}
      onInput={(event) => {
        text.value = event.currentTarget.value
      }}
    />
  )
}

export const textOf = (definition: JobDefinition | null | undefined): string => writeJson(definition ?? {}, 2)

export function parseDefinition(text: string): { definition?: JobDefinition; problem: string } {
  try {
    const { value, problems } = readJson(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { problem: 'The definition must be a JSON object.' }
    if (problems.length > 0) return { problem: problems.map(({ message }) => message).join(' ') }
    const definition = value as JobDefinition
    // Line breaks that the editor added must not reach handlers.
    if (definition.payload instanceof JsonText) definition.payload = compact(definition.payload.text)
    return { definition, problem: '' }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** The parsed value if it writes back as the same text; else the text itself. */
function compact(text: string): unknown {
  const line = oneLineJson(text)
  const value: unknown = JSON.parse(line)
  return JSON.stringify(value) === line ? value : new JsonText(line)
}

export function FirePreview({ definition }: { definition: JobDefinition | undefined }) {
  const fires = useSignal<DueTime[] | undefined>(undefined)
  const problem = useSignal('')
  const schedule = definition?.schedule
  const key = JSON.stringify(schedule)
  // The key stands for the schedule.
  useEffect(() => {
    if (schedule === undefined) return
    const ended = new AbortController()
    const waiting = setTimeout(async () => {
      try {
        fires.value = await preview(schedule, undefined, ended.signal)
        problem.value = ''
      } catch (error) {
        if (!ended.signal.aborted) problem.value = error instanceof RequestProblem ? error.message : String(error)
      }
    }, previewAfterMs)
    return () => {
      clearTimeout(waiting)
      ended.abort()
    }
  }, [key])
  if (problem.value !== '')
    return (
      <p class="state bad" role="status">
        {problem.value}
      </p>
    )
  if (fires.value === undefined) return <Empty>Loading preview …</Empty>
  if (fires.value.length === 0) return <Empty>Never fires: the schedule has no future time.</Empty>
  return <FireList fires={fires.value} zone={schedule?.timezone} />
}
