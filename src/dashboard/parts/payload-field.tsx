/** The payload of a definition as a field of its own. What is typed reaches the definition as soon as it is JSON. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { prettyJson, withoutSpace } from '../model/index.ts'
import { compact } from './definition-check.ts'
import { type Form, fieldValue, Labelled } from './form-field.tsx'

/** A longer payload is edited in the JSON alone, in characters. */
const payloadCharsMax = 20_000

export function PayloadField({ form }: { form: Form }) {
  const typed = useSignal<string | undefined>(undefined)
  const problem = useSignal('')
  const value = fieldValue(form, 'payload')
  const text = useMemo(() => (value === undefined ? '' : prettyJson(value)), [value])
  const set = (given: string): void => {
    typed.value = given
    try {
      form.set(['payload'], given.trim() === '' ? undefined : compact(withoutSpace(given)))
      problem.value = ''
    } catch {
      problem.value = 'This is not JSON yet. Text needs double quotes.'
    }
  }
  if (text.length > payloadCharsMax) return <p class="aside">The payload is long. Edit it in the JSON.</p>
  return (
    <Labelled form={form} path="payload" label="Payload (JSON)">
      <textarea
        id="field-payload"
        class="code"
        spellcheck={false}
        rows={Math.min(10, Math.max(3, (typed.value ?? text).split('\n').length))}
        value={typed.value ?? text}
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
