/** A check box with its label. */
import type { ComponentChildren } from 'preact'

interface CheckBoxProps {
  checked: boolean
  set: (checked: boolean) => void
  /** Class of the label. */
  class?: string
  title?: string | undefined
  disabled?: boolean
  children: ComponentChildren
}

export function CheckBox({ checked, set, class: kind, title, disabled = false, children }: CheckBoxProps) {
  return (
    <label class={kind} title={title}>
      <input type="checkbox" checked={checked} disabled={disabled} onChange={({ currentTarget }) => set(currentTarget.checked)} />{' '}
      {children}
    </label>
  )
}
