/** Editor of a definition: its JSON with what is wrong by line, and the fields that have their defaults on demand. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import {
  type DueTime,
  type FieldSchemas,
  fieldSchemas,
  forgetError,
  type JobDefinition,
  prettyJson,
  RequestProblem,
  withDefaults,
  withoutDefaults,
} from '../model/index.ts'
import type { DefinitionCheck } from './definition-check.ts'
import { JsonEditor, type Mark } from './json-editor.tsx'
import { FireList, preview } from './next-fires.tsx'
import { Empty } from './states.tsx'
import { ClampedText } from './text.tsx'

const previewAfterMs = 300

export const textOf = (definition: object | null | undefined): string => prettyJson(definition ?? {})

/** Undefined: loading. Null: the server does not give them, so that all fields are shown and none is completed. */
export function useFieldSchemas(): FieldSchemas | null | undefined {
  const schemas = useSignal<FieldSchemas | null | undefined>(undefined)
  useEffect(() => {
    void fieldSchemas()
      .catch(() => null)
      .then((found) => {
        schemas.value = found
      })
  }, [])
  return schemas.value
}

interface DefinitionEditorProps {
  text: Signal<string>
  check: DefinitionCheck
  schemas: FieldSchemas | null
  /** Whether fields that have their default are shown too. */
  all: Signal<boolean>
}

export function DefinitionEditor({ text, check: { definition, marks, planned }, schemas, all }: DefinitionEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(forgetError, [text.value])
  const show = (mark: Mark): void => {
    const before = text.value.split('\n').slice(0, (mark.line ?? 1) - 1)
    const at = before.reduce((sum, line) => sum + line.length + 1, 0) + (mark.column ?? 1) - 1
    area.current?.focus()
    area.current?.setSelectionRange(at, at)
  }
  const showAll = (wanted: boolean): void => {
    all.value = wanted
    if (definition !== undefined && schemas !== null)
      text.value = textOf((wanted ? withDefaults : withoutDefaults)(definition, schemas))
  }
  return (
    <>
      <JsonEditor area={area} text={text} marks={marks} label="Definition as JSON" describedBy="json-problem" />
      {schemas !== null && (
        <label class="check">
          <input
            type="checkbox"
            checked={all.value}
            disabled={definition === undefined}
            onChange={({ currentTarget }) => showAll(currentTarget.checked)}
          />
          Show fields that have their default
        </label>
      )}
      <div id="json-problem" class="json-problems" role="status">
        <Problems marks={marks} show={show} />
        {(planned?.warnings ?? []).map((warning) => (
          <p key={warning} class="warn">
            {warning}
          </p>
        ))}
      </div>
    </>
  )
}

function Problems({ marks, show }: { marks: readonly Mark[]; show: (mark: Mark) => void }) {
  return (
    <ul class="bad">
      {marks.map((mark) => (
        <li key={`${mark.field} ${mark.text}`}>
          {mark.line !== undefined && (
            <>
              <button type="button" class="link" onClick={() => show(mark)}>
                Line {mark.line}, column {mark.column}
              </button>
              {': '}
            </>
          )}
          <ClampedText of={mark.text} />
        </li>
      ))}
    </ul>
  )
}

export function FirePreview({ definition }: { definition: JobDefinition | undefined }) {
  const shown = useSignal<{ fires: DueTime[]; zone: string | undefined } | undefined>(undefined)
  const problem = useSignal('')
  const schedule = definition?.schedule
  const key = JSON.stringify(schedule)
  // The key stands for the schedule.
  useEffect(() => {
    if (schedule === undefined) return
    const ended = new AbortController()
    const waiting = setTimeout(async () => {
      try {
        shown.value = { fires: await preview(schedule, undefined, ended.signal), zone: schedule.timezone }
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
  if (schedule === undefined) return <Empty>No preview: the definition has no schedule that can be read.</Empty>
  if (problem.value !== '')
    return (
      <p class="state bad" role="status">
        {problem.value}
      </p>
    )
  if (shown.value === undefined) return <Empty>Loading preview …</Empty>
  if (shown.value.fires.length === 0) return <Empty>Never fires: the schedule has no future time.</Empty>
  return <FireList {...shown.value} />
}
