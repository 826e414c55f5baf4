/** The common fields of a definition as a form. It changes single fields of the JSON beside it, and shows each change that is made there. */
import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { kindsByWorkers, targetKinds } from '../../../../streams/targets/index.ts'
import { readJson } from '../../../../streams/text/index.ts'
import { type FieldSchemas, fieldAt, type KnownNames, resolved, valueAt, withMember } from '../model/index.ts'
import type { DefinitionCheck } from './definition-check.ts'
import { FirePreview } from './fires.tsx'
import { Field, type Form, fieldValue, Labelled, marksOf, PayloadField, Select, stepsOf } from './form-field.tsx'

interface DefinitionFormProps {
  text: Signal<string>
  check: DefinitionCheck
  schemas: FieldSchemas
  known: KnownNames
}

/** Objects that mean nothing without members. */
const optional = ['retry.backoff', 'retry']

export function DefinitionForm({ text, check: { definition, marks }, schemas, known }: DefinitionFormProps) {
  const set = (path: readonly string[], value: unknown): void => {
    let next = withMember(text.value, path, value)
    for (const each of optional)
      if (value === undefined && path.join('.').startsWith(`${each}.`) && isEmpty(valueAt(readJson(next).value, stepsOf(each))))
        next = withMember(next, stepsOf(each), undefined)
    text.value = next
  }
  // While the JSON cannot be read, the fields keep what they had.
  const last = useRef(definition)
  last.current = definition ?? last.current
  const form: Form = { definition: last.current, schemas, marks, source: text, set }
  const hasWorkers = isByWorkers(kindOf(form, 'target', targets))
  return (
    <fieldset class="form" disabled={definition === undefined}>
      <legend class="unseen">Common fields</legend>
      <Suggestions known={known} />
      <p class="aside">{definition === undefined ? 'Correct the JSON to use the form.' : 'Form and JSON are one document.'}</p>
      <ScheduleFields form={form} />
      <div class="preview">
        <h2>Fire preview</h2>
        <FirePreview definition={form.definition} />
      </div>
      <TargetFields form={form} />
      <PayloadField form={form} />
      <Section title="Tags and state" form={form} fields={['tags', 'priority', 'paused', 'catchUp']} isOpen>
        <Field form={form} path="tags" label="Tags, separated by commas" />
        {hasWorkers && <Field form={form} path="priority" label="Priority" />}
        <Field form={form} path="catchUp" label="Missed occurrences" />
        <Field form={form} path="paused" label="Paused" />
      </Section>
      {hasWorkers && <RetryFields form={form} />}
      <LimitFields form={form} />
      <Section title="Validity" form={form} fields={['startAt', 'endAt', 'expireAt', 'maxRuns']}>
        <Field form={form} path="startAt" label="Not before" example="2030-01-31T08:00:00Z" />
        <Field form={form} path="endAt" label="Not after" example="2030-12-31T08:00:00Z" />
        <Field form={form} path="expireAt" label="Runs expire at" example="2030-12-31T08:00:00Z" />
        <Field form={form} path="maxRuns" label="Number of runs" />
      </Section>
    </fieldset>
  )
}

const isEmpty = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0

interface SectionProps {
  title: string
  form: Form
  /** It is open if one of these is set, or wrong. */
  fields: readonly string[]
  isOpen?: boolean
  children: ComponentChildren
}

function Section({ title, form, fields, isOpen = false, children }: SectionProps) {
  const used = fields.some((path) => fieldValue(form, path) != null || marksOf(form, path).length > 0)
  return (
    <details class="fields" open={isOpen || used}>
      <summary>{title}</summary>
      <div class="field-grid">{children}</div>
    </details>
  )
}

type Choices = Readonly<Record<string, { title: string; value: unknown }>>

interface ChoiceProps {
  form: Form
  path: string
  label: string
  choices: Choices
  choose: (kind: string) => void
}

/** Which one of several members of an object is set. */
function Choice({ form, path, label, choices, choose }: ChoiceProps) {
  const kind = kindOf(form, path, choices)
  return (
    <Labelled form={{ ...form, marks: form.marks.filter(({ field }) => field === path) }} path={path} label={label}>
      <Select
        path={path}
        value={kind ?? ''}
        options={[...(kind === undefined ? [['', 'choose …'] as const] : []), ...titlesOf(choices)]}
        set={choose}
      />
    </Labelled>
  )
}

const titlesOf = (choices: Choices) => Object.entries(choices).map(([name, { title }]) => [name, title] as const)

const kindOf = <Kind extends string>(form: Form, path: string, choices: Readonly<Record<Kind, unknown>>): Kind | undefined =>
  (Object.keys(choices) as Kind[]).find((name) => fieldValue(form, `${path}.${name}`) != null)

const schedules = {
  cron: { title: 'Cron expression', label: 'Cron', value: '0 9 * * MON-FRI' },
  everyMs: { title: 'Fixed interval', label: 'Interval in ms', value: 60_000 },
  at: { title: 'Once, at a time', label: 'Time', value: '2030-01-31T08:00:00Z' },
  delayMs: { title: 'Once, after a delay', label: 'Delay in ms', value: 60_000 },
  rrule: { title: 'Recurrence rule', label: 'Rule', value: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0' },
} as const
/** Fields of a schedule that two kinds share. */
const zoned = ['timezone', 'dstGap', 'dstOverlap']

function ScheduleFields({ form }: { form: Form }) {
  const kind = kindOf(form, 'schedule', schedules)
  const isZoned = kind === 'cron' || kind === 'rrule'
  const choose = (next: string): void => {
    const kept = next === 'cron' || next === 'rrule' ? zoned : []
    const members = kept.flatMap((name) => {
      const value = fieldValue(form, `schedule.${name}`)
      return value === undefined ? [] : [[name, value]]
    })
    form.set(['schedule'], { [next]: schedules[next as keyof typeof schedules].value, ...Object.fromEntries(members) })
  }
  return (
    <div class="field-grid">
      <Choice form={form} path="schedule" label="Schedule" choices={schedules} choose={choose} />
      {kind !== undefined && <Field form={form} path={`schedule.${kind}`} label={schedules[kind].label} />}
      {isZoned && <Field form={form} path="schedule.timezone" label="Time zone" isSuggested />}
      {kind === 'everyMs' && <Field form={form} path="schedule.from" label="Counted from" />}
    </div>
  )
}

const targets = Object.fromEntries(targetKinds.map(([name, { title, example }]) => [name, { title, value: example }]))

/** As long as none is chosen, it may be one that workers do. */
const isByWorkers = (kind: string | undefined): boolean => kind === undefined || kindsByWorkers.some((name) => name === kind)

function TargetFields({ form }: { form: Form }) {
  const kind = kindOf(form, 'target', targets)
  const choose = (next: string): void => {
    const pool = isByWorkers(next) ? fieldValue(form, 'target.pool') : undefined
    form.set(['target'], { [next]: targets[next]?.value, ...(pool !== undefined && { pool }) })
  }
  return (
    <div class="field-grid">
      <Choice form={form} path="target" label="Target" choices={targets} choose={choose} />
      {targetKinds
        .flatMap(([name, { fields }]) => (name === kind ? fields : []))
        .map(({ path, ...field }) => (
          <Field key={path} form={form} path={`target.${path}`} {...field} />
        ))}
      {isByWorkers(kind) && <Field form={form} path="target.pool" label="Pool" isSuggested />}
    </div>
  )
}

const backoffs = {
  list: { title: 'One delay for each retry', value: [1_000, 5_000, 30_000] },
  fixed: { title: 'The same delay', value: { delayMs: 5_000 } },
  linear: { title: 'Growing by the same step', value: { stepMs: 5_000 } },
  exponential: { title: 'Growing by a factor', value: { baseMs: 1_000 } },
} as const
const backoffLabels: Record<string, string> = {
  ...{
    delayMs: 'Delay in ms',
    stepMs: 'Step in ms',
    baseMs: 'First delay in ms',
    maxMs: 'Longest delay in ms',
    factor: 'Factor',
  },
}

function RetryFields({ form }: { form: Form }) {
  const kind = kindOf(form, 'retry.backoff', backoffs)
  const inside = resolved(form.schemas, fieldAt(form.schemas, ['retry', 'backoff', kind ?? '']))?.properties ?? {}
  const choose = (next: string): void =>
    form.set(['retry', 'backoff'], next === 'usual' ? undefined : { [next]: backoffs[next as keyof typeof backoffs].value })
  return (
    <Section title="Retries" form={form} fields={['retry', 'attemptTimeoutMs', 'leaseMs']}>
      <Field form={form} path="retry.maxAttempts" label="Attempts" />
      <Labelled form={{ ...form, marks: [] }} path="retry.backoff" label="Delays">
        <Select
          path="retry.backoff"
          value={kind ?? 'usual'}
          options={[['usual', 'Default delays'], ...titlesOf(backoffs)]}
          set={choose}
        />
      </Labelled>
      {kind === 'list' && <Field form={form} path="retry.backoff.list" label="Delays in ms, separated by commas" />}
      {Object.keys(inside).map((name) => (
        <Field key={name} form={form} path={`retry.backoff.${kind}.${name}`} label={backoffLabels[name] ?? name} />
      ))}
      <Field form={form} path="retry.maxAgeMs" label="No retry after, in ms" />
      <Field form={form} path="attemptTimeoutMs" label="Attempt timeout in ms" />
    </Section>
  )
}

function LimitFields({ form }: { form: Form }) {
  const rate = fieldValue(form, 'rateLimit')
  // Its three fields belong together.
  const setRateKey = (key: unknown): void => {
    if (key === undefined) form.set(['rateLimit'], undefined)
    else if (rate == null) form.set(['rateLimit'], { key, limit: 1, perMs: 1_000 })
    else form.set(['rateLimit', 'key'], key)
  }
  return (
    <Section
      title="Limits"
      form={form}
      fields={['maxConcurrentRuns', 'overlap', 'concurrencyKey', 'concurrencyLimit', 'rateLimit']}
    >
      <Field form={form} path="overlap" label="Occurrence during a run" />
      <Field form={form} path="maxConcurrentRuns" label="Active runs of this job" />
      <Field form={form} path="concurrencyKey" label="Concurrency key" />
      {fieldValue(form, 'concurrencyKey') != null && (
        <Field form={form} path="concurrencyLimit" label="Runs of the key at once" />
      )}
      <Field form={form} path="rateLimit.key" label="Rate key" change={setRateKey} />
      {rate != null && <Field form={form} path="rateLimit.limit" label="Starts in the window" />}
      {rate != null && <Field form={form} path="rateLimit.perMs" label="Window in ms" />}
    </Section>
  )
}

/** Names that the fields suggest, by their path. */
function Suggestions({ known }: { known: KnownNames }) {
  return (
    <>
      {Object.entries(known).map(([path, names]) => (
        <datalist key={path} id={`names-${path}`}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      ))}
    </>
  )
}
