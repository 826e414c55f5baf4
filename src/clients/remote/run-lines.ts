/** Lines of a run, page by page, and as they come. */
import type { RunLogPage } from '../../ground/answers/index.ts'
import { type Clock, waitFor } from '../../ground/clock/index.ts'

/** Time between two requests while a run is followed. */
export const followPauseMs = 1_000

interface RunLinesOptions {
  /** Whether to wait for further lines until the run has ended. */
  follow: boolean
  clock: Pick<Clock, 'nowMs' | 'at'>
  /** Ends the wait, and rejects with its reason. */
  signal: AbortSignal
}

/** `read` asks for one page. A page may have no lines. */
export async function* runLinePages(
  read: (cursor: string | undefined) => Promise<RunLogPage>,
  { follow, clock, signal }: RunLinesOptions,
): AsyncGenerator<RunLogPage> {
  let cursor: string | undefined
  for (;;) {
    const page = await read(cursor)
    yield page
    if (page.cursor === null || (page.caughtUp && !follow)) return
    cursor = page.cursor
    if (page.caughtUp) await waitFor(followPauseMs, clock, signal)
  }
}
