/** Sends the jobs of a load at its rate, or slower if the log is slower. */
import { setTimeout as wait } from 'node:timers/promises'
import type { KafkaClient } from '../client/index.ts'
import type { Load } from './plan.ts'

/** Interval of sends; jobs that became due in between are sent together. */
const tickMs = 20
/** Largest number of unacknowledged jobs. At this limit the log sets the rate. */
const unacknowledgedMax = 20_000

export interface Sent {
  accepted: number
  rejected: number
  /** Reason of the first rejection. */
  rejection: string | undefined
  tookMs: number
}

/** Ends early when the signal is aborted. Rejects when the log refuses. */
export async function sendLoad(
  client: KafkaClient,
  load: Load,
  onAccepted: (index: number) => void,
  signal: AbortSignal,
): Promise<Sent> {
  const begunAt = performance.now()
  const sent: Sent = { accepted: 0, rejected: 0, rejection: undefined, tookMs: 0 }
  const inFlight = new Set<Promise<void>>()
  const failure: { error?: unknown } = {}
  let unacknowledged = 0
  const send = async (from: number, to: number): Promise<void> => {
    const nowMs = Date.now()
    const indexes = Array.from({ length: to - from }, (_, place) => from + place)
    const refused = new Set<number>()
    const jobs = indexes.map((index) => load.job(index, nowMs))
    await client.scheduleMany(jobs, {
      onRejected: ({ index, error }) => {
        refused.add(from + index)
        sent.rejection ??= error.message
      },
    })
    sent.rejected += refused.size
    sent.accepted += indexes.length - refused.size
    for (const index of indexes) if (!refused.has(index)) onAccepted(index)
  }
  for (let next = 0; next < load.jobs && !signal.aborted && !('error' in failure); ) {
    const due = Math.min(load.dueAfter(performance.now() - begunAt), next + unacknowledgedMax - unacknowledged)
    if (due > next) {
      const count = due - next
      unacknowledged += count
      const sending = send(next, due)
        .catch((error: unknown) => {
          failure.error = error
        })
        .finally(() => {
          unacknowledged -= count
          inFlight.delete(sending)
        })
      inFlight.add(sending)
      next = due
    }
    if (next < load.jobs) await wait(tickMs, undefined, { signal }).catch(() => {})
  }
  await Promise.all(inFlight)
  if ('error' in failure) throw failure.error
  sent.tookMs = performance.now() - begunAt
  return sent
}
