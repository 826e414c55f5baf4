/** One field of the form for a definition, and its payload. Kind, default and explanation come from the schema that the server serves. */
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { withoutSpace } from '../../../../streams/text/index.ts'
import {
  defaultOf,
  duration,
  type FieldSchemas,
  fieldAt,
  isLongerThan,
  type JobDefinition,
  numbersOf,
  prettyJson,
  resolved,
  setTo,
  valueAt,
} from '../model/index.ts'
import { CheckBox } from './buttons.tsx'
import { compact } from './definition-check.ts'
import type { Mark } from './json-editor.tsx'

export interface Form {
  /** As it was last read. */
  definition: JobDefinition | undefined
  schemas: FieldSchemas
  marks: readonly Mark[]
  /** The text of the definition. */
  source: Signal<string>
  /** Undefined removes the field. */
  set: (path: readonly string[], value: unknown) => void
}

interface FieldProps {
  form: Form
  /** Such as retry.maxAttempts. */
  path: string
  label: string
  /** Its names are known. */
  isSuggested?: boolean
  example?: string
  /** Instead of setting the one field. */
  change?: (value: unknown) => void
}

export const stepsOf = (path: string): string[] => path.split('.')
export const fieldValue = ({ definition }: Form, path: string): unknown => valueAt(definition, stepsOf(path))
const typesOf = (type: string | string[] | undefined): readonly string[] => (typeof type === 'string' ? [type] : (type ?? []))

export function Field({ form, path, label, isSuggested = false, example, change }: FieldProps) {
  const field = fieldAt(form.schemas, stepsOf(path))
  const schema = resolved(form.schemas, field)
  const value = fieldValue(form, path)
  const set = change ?? ((next: unknown) => form.set(stepsOf(path), next))
  const types = typesOf(schema?.type)
  if (types.includes('boolean')) {
    return (
      <CheckBox
        class="check"
        title={field?.description}
        checked={(value ?? defaultOf(field)) === true}
        set={(checked) => set(checked === (defaultOf(field) ?? false) ? undefined : checked)}
      >
        {label}
      </CheckBox>
    )
  }
  const usual = defaultOf(field)
  const isNumber = types.includes('integer') || types.includes('number')
  const numbers = numbersOf(form.schemas, field)
  const chosen = (text: string): unknown => (numbers.includes(Number(text || Number.NaN)) ? Number(text) : text || undefined)
  const isLong = path.endsWith('Ms') && typeof (value ?? usual) === 'number'
  return (
    <Labelled
      form={form}
      path={path}
      label={label}
      description={field?.description}
      aside={isLong ? duration((value ?? usual) as number) : ''}
    >
      {schema?.enum === undefined ? (
        <TextInput
          form={form}
          path={path}
          isWrong={marksOf(form, path).length > 0}
          text={types.includes('array') ? listText(value) : plainText(value)}
          placeholder={usual == null ? (example ?? '') : String(usual)}
          list={isSuggested ? `names-${path}` : undefined}
          set={(text) => set(types.includes('array') ? listOf(text, schema?.items?.type) : readText(text, isNumber))}
        />
      ) : (
        <Select
          path={path}
          value={plainText(value)}
          options={[
            ['', usual == null ? '' : `${usual} (default)`],
            ...[...schema.enum, ...numbers]
              .filter((each) => each !== usual || each === value)
              .map((each) => [each, each] as const),
          ]}
          set={(text) => set(chosen(text))}
        />
      )}
    </Labelled>
  )
}

interface SelectProps {
  path: string
  value: string
  options: readonly (readonly [value: string | number, title: string | number])[]
  set: (value: string) => void
}

export const Select = ({ path, value, options, set }: SelectProps) => (
  <select id={`field-${path}`} value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
    {options.map(([each, title]) => (
      <option key={each} value={each}>
        {title}
      </option>
    ))}
  </select>
)

/** What is wrong with the field, or a part of it. */
export const marksOf = ({ marks }: Form, path: string): Mark[] =>
  marks.filter(({ field }) => field === path || field.startsWith(`${path}[`) || field.startsWith(`${path}.`))

interface LabelledProps {
  form: Form
  path: string
  label: string
  description?: string | undefined
  aside?: string
  children: ComponentChildren
}

/** The label, and below the field what the server says about it. */
export function Labelled({ form, path, label, description, aside = '', children }: LabelledProps) {
  const wrong = marksOf(form, path)
  return (
    <div class="field" title={description}>
      <label for={`field-${path}`}>
        {label}
        {aside !== '' && <span class="aside">{aside}</span>}
      </label>
      {children}
      {wrong.length > 0 && (
        <p id={`wrong-${path}`} class="bad">
          {wrong.map(({ text }) => text).join(' ')}
        </p>
      )}
    </div>
  )
}

/** What stands in a field, and the text of the definition that it made. */
interface Typed {
  value: string
  source: string
}

/** What the user types stays as typed until the field is left, or the definition is changed elsewhere. */
const typedIn = ({ source }: Form, typed: Typed | undefined): string | undefined =>
  typed?.source === source.value ? typed.value : undefined

interface TextInputProps {
  form: Form
  path: string
  text: string
  isWrong: boolean
  placeholder: string
  list?: string | undefined
  set: (text: string) => void
}

/** Each key changes the JSON. */
function TextInput({ form, path, text, isWrong, placeholder, list, set }: TextInputProps) {
  const typed = useSignal<Typed | undefined>(undefined)
  return (
    <input
      id={`field-${path}`}
      class="code"
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      list={list}
      placeholder={placeholder}
      value={typedIn(form, typed.value) ?? text}
      aria-invalid={isWrong}
      aria-describedby={isWrong ? `wrong-${path}` : undefined}
      onInput={({ currentTarget: { value } }) => {
        set(value.trim())
        typed.value = { value, source: form.source.peek() }
      }}
      onBlur={() => setTo(typed, undefined)}
    />
  )
}

const plainText = (value: unknown): string =>
  value == null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
const listText = (value: unknown): string => (Array.isArray(value) ? value.map(plainText).join(', ') : plainText(value))

/** What is no number stays text, and the server says what is allowed. */
function readText(text: string, isNumber: boolean): unknown {
  if (text === '') return undefined
  return isNumber && /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text
}

function listOf(text: string, itemType: string | string[] | undefined): unknown {
  const isNumber = itemType === 'integer' || itemType === 'number'
  const items = text.split(',').flatMap((item) => readText(item.trim(), isNumber) ?? [])
  return items.length === 0 ? undefined : items
}

/** A longer payload is edited in the JSON alone, in characters. */
const payloadCharsMax = 20_000

export function PayloadField({ form }: { form: Form }) {
  const typed = useSignal<Typed | undefined>(undefined)
  const problem = useSignal('')
  const value = fieldValue(form, 'payload')
  const isLong = useMemo(() => isLongerThan(payloadCharsMax, value), [value])
  const text = useMemo(() => (value === undefined || isLong ? '' : prettyJson(value)), [value, isLong])
  // What is no JSON yet is nowhere else.
  const own = problem.value === '' ? typedIn(form, typed.value) : typed.value?.value
  const set = (given: string): void => {
    try {
      form.set(['payload'], given.trim() === '' ? undefined : compact(withoutSpace(given)))
      problem.value = ''
    } catch {
      problem.value = 'This is not JSON yet. Text needs double quotes.'
    }
    typed.value = { value: given, source: form.source.peek() }
  }
  if (isLong) return <p class="aside">The payload is long. Edit it in the JSON.</p>
  return (
    <Labelled form={form} path="payload" label="Payload (JSON)">
      <textarea
        id="field-payload"
        class="code"
        spellcheck={false}
        rows={Math.min(10, Math.max(3, (own ?? text).split('\n').length))}
        value={own ?? text}
        data-own-undo={problem.value !== '' || undefined}
        aria-invalid={problem.value !== ''}
        onInput={({ currentTarget }) => set(currentTarget.value)}
        onBlur={() => {
          if (problem.value === '') typed.value = undefined
        }}
      />
      {problem.value !== '' && <p class="bad">{problem.value}</p>}
    </Labelled>
  )
}
