/** Operations that go on, with their progress and a button that cancels them. */
import { useEffect } from 'preact/hooks'
import { cancelOperation, count, findOperations, mayOperate, operationTitle, visible, watched } from '../model/index.ts'
import { ActionButton } from './action-button.tsx'
import { When } from './when.tsx'

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
