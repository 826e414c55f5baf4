/** Cancels many active runs: those that are selected, or all that match the filter. */
import { useSignal } from '@preact/signals'
import { count, operate, type Run } from '../model/index.ts'
import { ActionButton } from './action-button.tsx'

interface RunBulkProps {
  runs: readonly Run[]
  selected: readonly Run[]
  chooseAll: (all: boolean) => void
  /** The filter of the list, for all that match. */
  filter: Record<string, string>
  changed: () => Promise<void>
}

export function RunBulk({ runs, selected, chooseAll, filter, changed }: RunBulkProps) {
  const matching = useSignal(false)
  const cancel = async (): Promise<void> => {
    const target = matching.value ? { filter } : { runIds: selected.map(({ runId }) => runId) }
    if (await operate({ action: 'CANCEL_RUN', ...target })) chooseAll(false)
    await changed()
  }
  return (
    <fieldset class="bulk buttons">
      <legend class="unseen">Actions on many runs</legend>
      <label>
        <input
          type="checkbox"
          checked={selected.length === runs.length}
          onChange={(event) => chooseAll(event.currentTarget.checked)}
        />{' '}
        Select all {count(runs.length)} on this page
      </label>
      <label>
        <input
          type="checkbox"
          checked={matching.value}
          onChange={(event) => {
            matching.value = event.currentTarget.checked
          }}
        />{' '}
        All that match the filter
      </label>
      <ActionButton class="risky" disabled={!matching.value && selected.length === 0} run={cancel}>
        Cancel {matching.value ? 'all matching' : `selected (${count(selected.length)})`}
      </ActionButton>
    </fieldset>
  )
}
