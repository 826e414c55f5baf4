/** Notice of what the last action did. */
import { notice } from '../model/index.ts'

export function NoticeBar() {
  const shown = notice.value
  return (
    <div class="notice-place" role={shown?.bad ? 'alert' : 'status'} aria-live={shown?.bad ? 'assertive' : 'polite'}>
      {shown !== undefined && (
        <p class={`notice${shown.bad ? ' bad' : ''}`}>
          {shown.text}
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
