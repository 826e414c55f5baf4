/** Cancels many active runs: those that are selected, or all that match the filter. */
import { useSignal } from '@preact/signals'
import { count, operate, type Run } from '../model/index.ts'
import { ActionButton } from './action-button.tsx'
import { CheckBox } from './check-box.tsx'

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
    const ids = (matching.value ? runs : selected).map(({ runId }) => runId)
    if (await operate({ action: 'CANCEL_RUN', ...target }, { ids, changed })) chooseAll(false)
  }
  return (
    <fieldset class="bulk buttons">
      <legend class="unseen">Actions on many runs</legend>
      <CheckBox checked={selected.length === runs.length} set={chooseAll}>
        Select all {count(runs.length)} on this page
      </CheckBox>
      <CheckBox
        checked={matching.value}
        set={(checked) => {
          matching.value = checked
        }}
      >
        All that match the filter
      </CheckBox>
      <ActionButton class="risky" disabled={!matching.value && selected.length === 0} run={cancel}>
        Cancel {matching.value ? 'all matching' : `selected (${count(selected.length)})`}
      </ActionButton>
    </fieldset>
  )
}
