/** Editor of a definition: a form for the common fields beside its JSON. Both are one text. What is wrong is shown in both, by field and by line. */
import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import {
  type FieldSchemas,
  fieldSchemas,
  forgetError,
  type KnownNames,
  prettyJson,
  withDefaults,
  withoutDefaults,
} from '../model/index.ts'
import { CheckBox } from './check-box.tsx'
import type { DefinitionCheck } from './definition-check.ts'
import { DefinitionForm } from './definition-form.tsx'
import { JsonEditor, type Mark } from './json-editor.tsx'
import { useKnownNames } from './known-names.ts'
import { ClampedText } from './text.tsx'
import { type Undo, undoKeyOf } from './undo.ts'

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
  undo: Undo
}

export function DefinitionEditor(props: DefinitionEditorProps) {
  const { text, check, schemas } = props
  const known = useKnownNames()
  const area = useRef<HTMLTextAreaElement>(null)
  return (
    <div class={schemas === null ? undefined : 'editor'} {...useUndoEvents(props.undo, area)}>
      {schemas !== null && <DefinitionForm text={text} check={check} schemas={schemas} known={known} />}
      <JsonSide {...props} known={known} area={area} />
    </div>
  )
}

/** The browser forgets the history of a text field when the form changes its text, so the editor has its own. */
function useUndoEvents(undo: Undo, area: RefObject<HTMLTextAreaElement | null>) {
  const take = (event: Event, isRedo: boolean): void => {
    if (event.target instanceof HTMLElement && event.target.dataset.ownUndo !== undefined) return
    event.preventDefault()
    const step = undo(isRedo)
    const field = area.current
    if (step === undefined || field === null) return
    if (document.activeElement === field) {
      field.value = step.text
      field.setSelectionRange(step.caret, step.caret)
    }
    // The field of the form that had the focus may be gone.
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) field.focus()
    })
  }
  return {
    onKeyDown: (event: KeyboardEvent): void => {
      const isRedo = undoKeyOf(event)
      if (isRedo !== undefined) take(event, isRedo)
    },
    // From the menu of the browser.
    onBeforeInput: (event: InputEvent): void => {
      if (event.inputType === 'historyUndo' || event.inputType === 'historyRedo') take(event, event.inputType === 'historyRedo')
    },
  }
}

function JsonSide({
  text,
  check: { definition, marks, planned },
  schemas,
  all,
  known,
  area,
}: DefinitionEditorProps & { known: KnownNames; area: RefObject<HTMLTextAreaElement | null> }) {
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
    <section class="json-side" aria-label="JSON">
      <JsonEditor
        area={area}
        text={text}
        marks={marks}
        label="Definition as JSON"
        describedBy="json-problem"
        schemas={schemas}
        known={known}
      />
      {schemas !== null && (
        <CheckBox class="check" checked={all.value} disabled={definition === undefined} set={showAll}>
          Show fields that have their default
        </CheckBox>
      )}
      <div id="json-problem" class="json-problems" role="status">
        <Problems marks={marks} show={show} />
        {(planned?.warnings ?? []).map((warning) => (
          <p key={warning} class="warn">
            {warning}
          </p>
        ))}
      </div>
    </section>
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
