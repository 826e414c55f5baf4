/** A button for an action of the server. While its answer is awaited, it says so and cannot be pressed again. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { awaited } from '../model/index.ts'

interface ActionButtonProps {
  run: () => Promise<unknown>
  children: ComponentChildren
  /** For screen readers, if the text alone does not say what it acts on. */
  label?: string
  class?: string
  disabled?: boolean
}

export function ActionButton({ run, children, label, class: kind, disabled = false }: ActionButtonProps) {
  const busy = useSignal(false)
  // A second click may come before the page is rendered again.
  const running = useRef(false)
  const press = async (): Promise<void> => {
    if (running.current) return
    running.current = true
    busy.value = true
    try {
      await awaited(run)
    } finally {
      running.current = false
      busy.value = false
    }
  }
  return (
    <button
      type="button"
      class={`${kind ?? ''}${busy.value ? ' busy' : ''}`.trim() || undefined}
      aria-label={label}
      aria-busy={busy.value}
      aria-disabled={busy.value}
      disabled={disabled}
      onClick={() => void press()}
    >
      {children}
    </button>
  )
}
