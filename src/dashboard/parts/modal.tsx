/** A modal dialog of the browser, which keeps the focus inside and gives it back. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface ModalProps {
  title: string
  close: () => void
  children: ComponentChildren
}

/** For a dialog that is rendered while it is open: shows it as a modal one, and gives the focus back when it is gone. */
export function useModal(isOpen: boolean) {
  const dialog = useRef<HTMLDialogElement>(null)
  // A layout effect: the focus is back as soon as the dialog is gone, and not a frame later.
  useLayoutEffect(() => {
    if (!isOpen) return
    const before = document.activeElement
    dialog.current?.showModal()
    // The dialog is removed without being closed, so the browser does not restore the focus.
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [isOpen])
  return dialog
}

export function Modal({ title, close, children }: ModalProps) {
  const dialog = useModal(true)
  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
    >
      <h2 id="dialog-title">
        <bdi>{title}</bdi>
      </h2>
      {children}
    </dialog>
  )
}
