/** Actions on many jobs or runs: on those that are selected, or on all that match the filter; and the operations that go on. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import {
  cancelOperation,
  count,
  findOperations,
  mayOperate,
  type OperationAction,
  operate,
  operationTitle,
  type Rows,
  setTo,
  visible,
  watched,
} from '../model/index.ts'
import { ActionButton, CheckBox } from './buttons.tsx'
import { type SearchField, wantedOf } from './search-form.tsx'
import { When } from './text.tsx'

interface BulkProps<Item> {
  of: 'jobs' | 'runs'
  actions: readonly (readonly [OperationAction, string])[]
  rows: Rows<Item>
  /** The filter of the list, for all that match. */
  fields: readonly SearchField[]
  query: URLSearchParams
}

const risky: readonly OperationAction[] = ['CANCEL', 'CANCEL_RUN', 'DELETE']

export function Bulk<Item>({ of, actions, rows, fields, query }: BulkProps<Item>) {
  const { items, selected, keyOf, chooseAll, changed } = rows
  const matching = useSignal(false)
  const keys = selected.map(keyOf)
  const target = matching.value ? { filter: wantedOf(fields, query) } : of === 'jobs' ? { jobIds: keys } : { runIds: keys }
  const which = matching.value ? 'all matching' : `selected (${count(selected.length)})`
  const act = async (action: OperationAction): Promise<void> => {
    const ids = matching.value ? items.map(keyOf) : keys
    if (await operate({ action, ...target }, { ids, changed })) chooseAll(false)
  }
  return (
    <fieldset class="bulk buttons">
      <legend class="unseen">Actions on many {of}</legend>
      <CheckBox checked={selected.length === items.length} set={chooseAll}>
        Select all {count(items.length)} on this page
      </CheckBox>
      <CheckBox checked={matching.value} set={(checked) => setTo(matching, checked)}>
        All that match the filter
      </CheckBox>
      <span class="aside">{which}:</span>
      {actions.map(([action, title]) => (
        <ActionButton
          key={action}
          label={`${title} ${which}`}
          class={risky.includes(action) ? 'risky' : ''}
          disabled={!matching.value && selected.length === 0}
          run={() => act(action)}
        >
          {title}
        </ActionButton>
      ))}
    </fieldset>
  )
}

export function OperationBar() {
  useEffect(() => {
    // An older or a restricted server may have no operations; then there are none to show.
    void findOperations().catch(() => undefined)
  }, [])
  if (watched.value.length === 0) return null
  return (
    <ul class="operations" aria-label="Operations">
      {watched.value.map((operation) => {
        const { id, total, applied, refused, status, problem, createdAt, effectiveAt } = operation
        return (
          <li key={id}>
            <span role="status">{operationTitle(operation)} …</span>
            <progress
              max={total ?? 1}
              value={total === null ? undefined : applied + refused}
              aria-label={operationTitle(operation)}
            />
            <span class="number" aria-hidden="true">
              {count(applied)}
              {total !== null && ` of ${count(total)}`}
              {refused > 0 && `, ${count(refused)} refused`}
            </span>
            {effectiveAt && (
              <span class="aside">
                In effect for all since <When at={effectiveAt} onDayOf={createdAt} plain />
              </span>
            )}
            {problem !== null && <span class="aside warn">{visible(problem)}</span>}
            {mayOperate.value && (
              <ActionButton
                class="risky"
                label={`Cancel operation: ${operationTitle(operation)}`}
                disabled={status === 'CANCELLING'}
                run={() => cancelOperation(operation)}
              >
                Cancel operation
              </ActionButton>
            )}
          </li>
        )
      })}
    </ul>
  )
}
