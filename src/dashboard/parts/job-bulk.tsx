/** Actions on many jobs: on those that are selected, or on all that match the filter. */
import { useSignal } from '@preact/signals'
import { count, type Job, type OperationAction, operate } from '../model/index.ts'
import { ActionButton } from './action-button.tsx'
import { CheckBox } from './check-box.tsx'

interface JobBulkProps {
  jobs: readonly Job[]
  selected: readonly Job[]
  chooseAll: (all: boolean) => void
  /** The filter of the list, for all that match. */
  filter: Record<string, string>
  changed: () => Promise<void>
}

const actions: readonly [OperationAction, string][] = [
  ['PAUSE', 'Pause'],
  ['RESUME', 'Resume'],
  ['TRIGGER', 'Run'],
  ['CANCEL', 'Cancel'],
  ['DELETE', 'Delete'],
]

export function JobBulk({ jobs, selected, chooseAll, filter, changed }: JobBulkProps) {
  const matching = useSignal(false)
  const target = matching.value ? { filter } : { jobIds: selected.map(({ id }) => id) }
  const which = matching.value ? 'all matching' : `selected (${count(selected.length)})`
  const act = (action: OperationAction) => () =>
    operate({ action, ...target }, { ids: (matching.value ? jobs : selected).map(({ id }) => id), changed }).then((begun) => {
      if (begun) chooseAll(false)
    })
  return (
    <fieldset class="bulk buttons">
      <legend class="unseen">Actions on many jobs</legend>
      <CheckBox checked={selected.length === jobs.length} set={chooseAll}>
        Select all {count(jobs.length)} on this page
      </CheckBox>
      <CheckBox
        checked={matching.value}
        set={(checked) => {
          matching.value = checked
        }}
      >
        All that match the filter
      </CheckBox>
      <span class="aside">{which}:</span>
      {actions.map(([action, title]) => (
        <ActionButton
          key={action}
          label={`${title} ${which}`}
          class={action === 'CANCEL' || action === 'DELETE' ? 'risky' : ''}
          disabled={!matching.value && selected.length === 0}
          run={act(action)}
        >
          {title}
        </ActionButton>
      ))}
    </fieldset>
  )
}
