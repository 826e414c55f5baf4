/** Last progress that the handler of a run reported. */
import type { Run } from '../model/index.ts'
import { When } from './when.tsx'

export function Progress({ run: { runId, status, progress, message, checkedAt } }: { run: Run }) {
  if (status !== 'RUNNING' || (progress == null && message == null)) return null
  return (
    <span class="progress">
      {progress != null && <progress max={1} value={progress} aria-label={`Progress of run ${runId}`} />}
      {progress != null && <span class="number">{Math.round(progress * 100)} %</span>}
      {message != null && <span class="aside clip">{message}</span>}
      {checkedAt != null && <span class="unseen">last report </span>}
      {checkedAt != null && (
        <span class="unseen">
          <When at={checkedAt} />
        </span>
      )}
    </span>
  )
}
