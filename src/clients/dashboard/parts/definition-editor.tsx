/** Editor of a definition: a form for the common fields beside its JSON, undo, and the buttons below. Form and JSON are one text. */
import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import {
  api,
  counted,
  type FieldSchemas,
  forgetError,
  type KnownNames,
  prettyJson,
  setTo,
  TextHistory,
  type UndoStep,
  withDefaults,
  withoutDefaults,
} from '../model/index.ts'
import { CheckBox } from './buttons.tsx'
import type { DefinitionCheck } from './definition-check.ts'
import { DefinitionForm } from './definition-form.tsx'
import { JsonEditor, type Mark } from './json-editor.tsx'
import { ClampedText } from './text.tsx'

export const textOf = (definition: object | null | undefined): string => prettyJson(definition ?? {})

/** Once for a page. */
let loaded: Promise<FieldSchemas> | undefined

/** Undefined: loading. Null: the server does not give them, so that all fields are shown and none is completed. */
export function useFieldSchemas(): FieldSchemas | null | undefined {
  const schemas = useSignal<FieldSchemas | null | undefined>(undefined)
  useEffect(() => {
    loaded ??= api.getOpenApi().then((found) => (found as { components: { schemas: FieldSchemas } }).components.schemas)
    void loaded.then(
      (found) => setTo(schemas, found),
      () => {
        loaded = undefined
        schemas.value = null
      },
    )
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

/** Empty: it can be saved. */
export function refusalOf({ marks, planned, away, definition }: DefinitionCheck): string {
  const [first] = marks
  if (first !== undefined) {
    const place = first.line === undefined ? '' : `, ${marks.length === 1 ? 'on' : 'the first on'} line ${first.line}`
    return `Not accepted: ${counted(marks.length, 'problem')}${place}.`
  }
  if (definition === undefined) return 'The definition cannot be read.'
  if (away !== '') return `Not checked yet: ${away}`
  if (planned === undefined) return 'Checking …'
  if (planned.action === 'DROPPED') return `It would have no effect: ${planned.reason ?? 'its version or dedupKey prevents it.'}`
  return ''
}

interface EditButtonsProps {
  /** Of the button that submits the form. */
  label: string
  /** Why it cannot be submitted; empty: it can. */
  refusal: string
  saving: boolean
  cancel: () => Promise<void>
  /** Buttons before it. */
  children?: ComponentChildren
}

export function EditButtons({ label, refusal, saving, cancel, children }: EditButtonsProps) {
  return (
    <div class="buttons">
      {children}
      <button
        key={label}
        type="submit"
        class={`main${saving ? ' busy' : ''}`}
        aria-busy={saving}
        aria-describedby="refusal"
        disabled={refusal !== ''}
      >
        {label}
      </button>
      <button type="button" onClick={() => void cancel()}>
        Cancel
      </button>
      <span id="refusal" class="aside" role="status">
        {refusal}
      </span>
    </div>
  )
}

/** Undefined: there is nothing to undo, or to redo. */
type Undo = (isRedo: boolean) => UndoStep | undefined

/** It knows each change of the text from now on. */
export function useUndo(text: Signal<string>): Undo {
  const history = useMemo(() => new TextHistory(text.peek()), [text])
  useSignalEffect(() => history.note(text.value, performance.now()))
  return (isRedo) => {
    // Effects run with the next frame. A key may be faster.
    history.note(text.peek(), performance.now())
    const step = isRedo ? history.redo() : history.undo()
    if (step !== undefined) text.value = step.text
    return step
  }
}

/** The key asks for undo (false) or redo (true), or neither. */
function undoKeyOf(event: KeyboardEvent): boolean | undefined {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.isComposing) return undefined
  const key = event.key.toLowerCase()
  if (key === 'z') return event.shiftKey
  return key === 'y' && !event.shiftKey && event.ctrlKey ? true : undefined
}

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

/** Names that a definition may have: time zones, and the handlers and pools of the connected workers. */
function useKnownNames(): KnownNames {
  const names = useSignal<KnownNames>({ 'schedule.timezone': zones })
  useEffect(() => {
    void api
      .listWorkers()
      .then(({ workers }) => {
        const pools = workers.flatMap((worker) => worker.pools)
        names.value = {
          ...names.value,
          'target.handler': [...new Set(pools.flatMap(({ handlers }) => handlers ?? []))].toSorted(),
          'target.pool': [...new Set(pools.map(({ pool }) => pool))].toSorted(),
        }
      })
      // Without it only time zones are suggested.
      .catch(() => undefined)
  }, [])
  return names.value
}
