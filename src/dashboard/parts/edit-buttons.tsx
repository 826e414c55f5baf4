/** The buttons of a form for a definition, and why it cannot be saved now. */
import type { ComponentChildren } from 'preact'
import { counted } from '../model/index.ts'
import type { DefinitionCheck } from './definition-check.ts'

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
