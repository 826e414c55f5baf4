/** The payload of a definition as a field of its own. What is typed reaches the definition as soon as it is JSON. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { withoutSpace } from '../../../streams/text/index.ts'
import { isLongerThan, prettyJson } from '../model/index.ts'
import { compact } from './definition-check.ts'
import { type Form, fieldValue, Labelled, type Typed, typedIn } from './form-field.tsx'

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
