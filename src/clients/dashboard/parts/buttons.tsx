/** Buttons for actions of the server, which say while the answer is awaited and cannot be pressed again; a check box with its label. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import {
  awaited,
  cancelRun,
  isActive,
  mayOperate,
  type PauseWord,
  type Pool,
  type Run,
  redrive,
  retryNow,
  visible,
} from '../model/index.ts'
import { Status } from './states.tsx'
import { When } from './text.tsx'

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

interface CheckBoxProps {
  checked: boolean
  set: (checked: boolean) => void
  /** Class of the label. */
  class?: string
  title?: string | undefined
  disabled?: boolean
  children: ComponentChildren
}

export const CheckBox = ({ checked, set, class: kind, title, disabled = false, children }: CheckBoxProps) => (
  <label class={kind} title={title}>
    <input type="checkbox" checked={checked} disabled={disabled} onChange={({ currentTarget }) => set(currentTarget.checked)} />{' '}
    {children}
  </label>
)

export function PauseState({ state, since }: { state: Pool['state']; since: string | null }) {
  return (
    <>
      <Status of={state} /> {state !== 'ACTIVE' && since !== null && <When at={since} />}
    </>
  )
}

interface PauseProps {
  /** Completes the labels for screen readers, such as `the pool mail`. */
  of: string
  state: Pool['state']
  change(word: PauseWord): Promise<boolean>
  changed(): Promise<void>
}

const pauseWords = { pause: 'Pause', drain: 'Drain', resume: 'Resume' } as const

/** They change the state of a pool or a worker. */
export function PauseButtons({ of, state, change, changed }: PauseProps) {
  const words = state === 'ACTIVE' ? (['pause', 'drain'] as const) : (['resume'] as const)
  return (
    <div class="buttons tight start">
      {words.map((word) => (
        <ActionButton
          key={word}
          label={`${pauseWords[word]} ${of}`}
          run={async () => {
            if (await change(word)) await changed()
          }}
        >
          {pauseWords[word]}
        </ActionButton>
      ))}
    </div>
  )
}

export function RunButtons({ run, redrivable, changed }: { run: Run; redrivable: boolean; changed: () => Promise<void> }) {
  const runId = visible(run.runId)
  if (!mayOperate.value) return null
  return (
    <>
      {run.status === 'RETRY_WAIT' && (
        <ActionButton label={`Retry now: run ${runId}`} run={() => retryNow(run).then(changed)}>
          Retry now
        </ActionButton>
      )}
      {isActive(run) && (
        <ActionButton class="risky" label={`Cancel run ${runId}`} run={() => cancelRun(run).then(changed)}>
          Cancel
        </ActionButton>
      )}
      {redrivable && (
        <ActionButton label={`Redrive run ${runId}`} run={() => redrive(run).then(changed)}>
          Redrive
        </ActionButton>
      )}
    </>
  )
}
