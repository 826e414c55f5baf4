/** A status as a word. Its color repeats it and adds nothing. */
import { statusWord } from '../model/index.ts'

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

export function Status({ of }: { of: string }) {
  return <span class={`status ${tones[of] ?? 'plain'}`}>{statusWord(of)}</span>
}
