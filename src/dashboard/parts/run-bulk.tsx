/** Cancels the active runs that are selected in a list. */
import { cancelRuns, count, type Run } from '../model/index.ts'
import { ActionButton } from './action-button.tsx'

interface RunBulkProps {
  runs: readonly Run[]
  selected: readonly Run[]
  chooseAll: (all: boolean) => void
  changed: () => Promise<void>
}

export function RunBulk({ runs, selected, chooseAll, changed }: RunBulkProps) {
  const cancel = async (): Promise<void> => {
    if (!(await cancelRuns(selected))) return
    chooseAll(false)
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
      <ActionButton class="risky" disabled={selected.length === 0} run={cancel}>
        Cancel selected ({count(selected.length)})
      </ActionButton>
    </fieldset>
  )
}
