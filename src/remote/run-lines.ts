/** Lines of a run, page by page, and as they come. */
import type { Request } from './api-client.ts'

/** Time between two requests while a run is followed. */
export const followPauseMs = 1_000

/** What the API answers to one request for lines. */
export interface LinesPage {
  cursor: string | null
  caughtUp: boolean
}

export interface RunLinesOptions {
  /** Whether to wait for further lines until the run has ended. */
  follow: boolean
  /** A clock of src/clock. */
  clock: { nowMs(): number; at(atMs: number, task: () => void): () => void }
  /** Ends the wait, and rejects with its reason. */
  signal: AbortSignal
}

/** `read` asks for one page. A page may have no lines. */
export async function* runLinePages<Page extends LinesPage>(
  read: (query: Request['query']) => Promise<Page>,
  query: Request['query'],
  { follow, clock, signal }: RunLinesOptions,
): AsyncGenerator<Page> {
  let cursor: string | undefined
  for (;;) {
    const page = await read({ ...query, cursor })
    yield page
    if (page.cursor === null || (page.caughtUp && !follow)) return
    cursor = page.cursor
    if (page.caughtUp) await pause(clock, signal)
  }
}

function pause(clock: RunLinesOptions['clock'], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      cancelTimer()
      reject(signal.reason)
    }
    const cancelTimer = clock.at(clock.nowMs() + followPauseMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
