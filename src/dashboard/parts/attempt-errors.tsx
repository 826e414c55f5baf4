/** Errors of a run's attempts. The summary shows the last one. */
import { type AttemptError, failuresText, type Run } from '../model/index.ts'
import { ClampedText, Text } from './text.tsx'
import { When } from './when.tsx'

export function AttemptErrors({ run, open = false }: { run: Run; open?: boolean }) {
  const errors: readonly AttemptError[] = run.errors
  const last = errors.at(-1)
  if (last === undefined) return null
  return (
    <details class="errors" open={open}>
      <summary>
        {failuresText(run)}:{' '}
        <span class="code">
          <Text of={last.type} />
        </span>
      </summary>
      <ol>
        {errors.map(({ attempt, at, worker, type, message }) => (
          <li key={`${attempt} ${at}`}>
            <span class="aside">
              attempt {attempt}, <When at={at} plain />
              {worker !== null && worker !== '' && (
                <span class="code">
                  {' '}
                  <Text of={worker} />
                </span>
              )}
            </span>
            <span>
              <span class="code">
                <Text of={type} />
              </span>
              : <ClampedText of={message} />
            </span>
          </li>
        ))}
      </ol>
    </details>
  )
}
