/** Callers that wait at an owner: until records are applied, and for the end of a run. The end of their time says nothing about either. */
import type { Clock } from '../ground/clock/index.ts'
import type { AwaitedRun, RunEnd } from '../ground/ports/index.ts'
import type { Wait } from './input/index.ts'
import type { Partition } from './partition/index.ts'

/** See PartitionQueries#ended. */
export async function endedInTime(
  owner: Partition,
  id: string,
  awaited: AwaitedRun,
  look: () => Promise<RunEnd | undefined>,
  { clock, timeoutMs, signal }: { clock: Clock; timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<RunEnd | null> {
  const over = Promise.withResolvers<null>()
  const cancel = clock.at(clock.nowMs() + timeoutMs, () => over.resolve(null))
  /** Whether all is applied that was durable when the caller asked. Before that, nobody knows that a run cannot come. */
  let isCaughtUp = false
  const onAbort = (): void => over.resolve(null)
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted) over.resolve(null)
  let wait: { end(): void } | undefined
  try {
    if ('specOffset' in awaited) {
      const applied = owner.applied('jobs', awaited.specOffset)
      wait = applied
      const done = await Promise.race([applied.done, over.promise])
      if (done === null) return null
      // False: the partition ended. Then the look finds no store.
      isCaughtUp = done
    }
    for (;;) {
      const change = owner.jobChange(id)
      wait = change
      const end = await look()
      if (end !== undefined && (end.run !== null || isCaughtUp)) return end
      if (end !== undefined) {
        change.end()
        const done = await allApplied(owner, over.promise)
        if (done === null) return null
        isCaughtUp = done
        continue
      }
      if ((await Promise.race([change.changed, over.promise])) === null) return null
    }
  } finally {
    cancel()
    signal?.removeEventListener('abort', onAbort)
    wait?.end()
  }
}

/**
 * Resolves true once what was durable at the call is applied, null when the caller's time is over, and false if the partition ended. Rejects
 * with `broker-unavailable` or `overloaded`.
 */
async function allApplied(owner: Partition, over: Promise<null>): Promise<boolean | null> {
  const ends = await Promise.race([Promise.all([owner.durableEnd('jobs'), owner.durableEnd('commands')]), over])
  if (ends === null) return null
  const [jobs, commands] = ends
  const waits: Wait[] = []
  try {
    waits.push(owner.applied('jobs', jobs - 1))
    waits.push(owner.applied('commands', commands - 1))
    const all = Promise.all(waits.map(({ done }) => done)).then((done) => done.every(Boolean))
    return await Promise.race([all, over])
  } finally {
    for (const wait of waits) wait.end()
  }
}

/** See PartitionQueries#applied. */
export async function doneInTime(
  owner: Partition,
  offsets: { jobs?: number; commands?: number },
  clock: Clock,
  timeoutMs: number,
): Promise<boolean> {
  const waits: Wait[] = []
  const end = (): void => {
    for (const wait of waits) wait.end()
  }
  const cancel = clock.at(clock.nowMs() + timeoutMs, end)
  try {
    if (offsets.jobs !== undefined) waits.push(owner.applied('jobs', offsets.jobs))
    if (offsets.commands !== undefined) waits.push(owner.applied('commands', offsets.commands))
    if (waits.length === 0) waits.push(owner.cycleEnd())
    return (await Promise.all(waits.map(({ done }) => done))).every(Boolean)
  } finally {
    cancel()
    end()
  }
}
