/** Feedback on actions: the confirmation before one that cannot be undone, and the notice of what one did. */
import { notice, question, visible } from '../model/index.ts'
import { useModal } from './modal.tsx'

/** The browser's own dialog keeps the focus inside. */
export function ConfirmDialog() {
  const asked = question.value
  const dialog = useModal(asked !== undefined)
  if (asked === undefined) return null
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question"
      aria-describedby="consequence"
      onCancel={(event) => {
        event.preventDefault()
        asked.answer(false)
      }}
    >
      <h2 id="question">{visible(asked.title)}</h2>
      <p id="consequence">{visible(asked.consequence)}</p>
      <div class="buttons end">
        <button type="button" onClick={() => asked.answer(false)}>
          {asked.no ?? 'Cancel'}
        </button>
        <button type="button" class={asked.safe ? 'main' : 'danger'} onClick={() => asked.answer(true)}>
          {asked.yes}
        </button>
      </div>
    </dialog>
  )
}

export function NoticeBar() {
  const shown = notice.value
  return (
    <div class="notice-place" role={shown?.bad ? 'alert' : 'status'} aria-live={shown?.bad ? 'assertive' : 'polite'}>
      {shown !== undefined && (
        <p class={`notice${shown.bad ? ' bad' : ''}`}>
          <bdi>{visible(shown.text)}</bdi>
          <button
            type="button"
            class="quiet"
            aria-label="Dismiss"
            onClick={() => {
              notice.value = undefined
            }}
          >
            ×
          </button>
        </p>
      )}
    </div>
  )
}
