/** Modal dialogs of the browser, which keep the focus inside and give it back; and the notice of what an action did. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { notice, question, setTo, visible } from '../model/index.ts'

interface ModalProps {
  /** The heading, which names the dialog. */
  title?: string
  /** The name of a dialog without such a heading. */
  label?: string
  class?: string
  /** Id of the text that says what it is about. */
  describedBy?: string
  /** Esc, or the browser's own way back. */
  close: () => void
  children: ComponentChildren
}

/** It is on the page while it is open. */
export function Modal({ title, label, class: kind, describedBy, close, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  // A layout effect: the focus is back as soon as the dialog is gone, and not a frame later. The browser gives it back when a dialog is
  // closed, and not when it is removed; until then it gives the focus to nothing outside of it.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class={kind}
      aria-label={label}
      aria-labelledby={title === undefined ? undefined : 'dialog-title'}
      aria-describedby={describedBy}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
    >
      {title !== undefined && (
        <h2 id="dialog-title">
          <bdi>{visible(title)}</bdi>
        </h2>
      )}
      {children}
    </dialog>
  )
}

/** The confirmation before an action that cannot be undone. */
export function ConfirmDialog() {
  const asked = question.value
  if (asked === undefined) return null
  const { title, consequence, yes, no = 'Cancel', safe, answer } = asked
  return (
    <Modal title={title} describedBy="consequence" close={() => answer(false)}>
      <p id="consequence">{visible(consequence)}</p>
      <div class="buttons end">
        <button type="button" onClick={() => answer(false)}>
          {no}
        </button>
        <button type="button" class={safe ? 'main' : 'danger'} onClick={() => answer(true)}>
          {yes}
        </button>
      </div>
    </Modal>
  )
}

export function NoticeBar() {
  const shown = notice.value
  return (
    <div class="notice-place" role={shown?.bad ? 'alert' : 'status'} aria-live={shown?.bad ? 'assertive' : 'polite'}>
      {shown !== undefined && (
        <p class={`notice${shown.bad ? ' bad' : ''}`}>
          <bdi>{visible(shown.text)}</bdi>
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => setTo(notice, undefined)}>
            ×
          </button>
        </p>
      )}
    </div>
  )
}
