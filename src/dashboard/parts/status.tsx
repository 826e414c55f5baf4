/** A status as a word. Its color repeats it and adds nothing. */
import { changing, statusWord } from '../model/index.ts'

const tones: Partial<Record<string, string>> = {
  ...{ ACTIVE: 'good', SUCCEEDED: 'good', active: 'good', RUNNING: 'busy', DISPATCHED: 'busy' },
  ...{
    RETRY_WAIT: 'warn',
    WAITING: 'warn',
    PAUSED: 'warn',
    DRAINED: 'warn',
    DRAINING: 'warn',
    EXPIRED: 'warn',
    SKIPPED: 'warn',
    restoring: 'warn',
    claiming: 'warn',
  },
  ...{ DEAD: 'bad', FAILED: 'bad', INVALID: 'bad', closed: 'bad' },
}

/** `id`: of the job or the run. While an operation changes it, the status says so. */
export function Status({ of, id }: { of: string; id?: string }) {
  const change = id === undefined ? undefined : changing.value.get(id)
  if (change !== undefined) return <span class="status busy">{change}</span>
  return <span class={`status ${tones[of] ?? 'plain'}`}>{statusWord(of)}</span>
}
