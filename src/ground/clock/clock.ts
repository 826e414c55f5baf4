/** The clocks of a machine as a port, so that tests and the simulator can control time. */
export interface Clock {
  /** Wall-clock time in epoch milliseconds. It may step. */
  nowMs(): number
  /** Milliseconds of a clock that never steps, from any origin. It may stop while the machine sleeps. */
  steadyMs(): number
  /**
   * Runs `task` once: when the wall clock reaches `atMs`, or when the time that was left at the call has passed, whichever is first. So a
   * wall clock that is set back delays no task; a task that needs the time itself reads the clock again. A wall clock that is set ahead is
   * noticed within a minute. Returns a function that cancels it. Handles times beyond the 2^31−1 ms that a Node timer can wait.
   */
  at(atMs: number, task: () => void): () => void
  /** Guard that says whether this clock is trusted. Absent: it is. */
  readonly guard?: ClockGuard
}

/** Whether the wall clock of this machine is right, compared with its steady clock and the brokers (guarded-clock.ts). */
export interface ClockGuard {
  /** The current time; undefined while the clock is not trusted. */
  trustedMs(): number | undefined
  /** Why the clock is not trusted, for people; undefined while it is. */
  readonly problem: string | undefined
  /** Calls `task` each time the clock is trusted again. Returns a function that ends this. */
  onTrusted(task: () => void): () => void
  /** Calls `task` each time the clock is no longer trusted. Returns a function that ends this. */
  onStopped(task: () => void): () => void
}

/** Epoch ms for decisions; undefined while the clock is not trusted. */
export const trustedMs = (clock: Clock): number | undefined =>
  clock.guard === undefined ? clock.nowMs() : clock.guard.trustedMs()

/**
 * As `clock.at`, for an instant of the wall clock and not for a delay. A task that was set while the clock was behind would come up to a
 * minute late. So it is set again when the clock is trusted again, if that is earlier.
 */
export function atInstant(clock: Clock, atMs: number, task: () => void): () => void {
  let untilSteadyMs = 0
  const run = (): void => {
    stopListening?.()
    task()
  }
  const set = (): (() => void) => {
    untilSteadyMs = steadyAt(clock, atMs)
    return clock.at(atMs, run)
  }
  let cancelTimer = set()
  const stopListening = clock.guard?.onTrusted(() => {
    if (steadyAt(clock, atMs) >= untilSteadyMs) return
    cancelTimer()
    cancelTimer = set()
  })
  return () => {
    stopListening?.()
    cancelTimer()
  }
}

/** Time of the steady clock when the wall clock reaches `atMs`, by their present difference. */
const steadyAt = (clock: Clock, atMs: number): number => clock.steadyMs() + atMs - clock.nowMs()

/** Time of the wall clock when the steady clock reaches `steadyMs`, by their present difference. */
export const atSteady = (clock: Clock, steadyMs: number): number => clock.nowMs() + steadyMs - clock.steadyMs()

/** Resolves after `waitMs`. Rejects with the signal's reason when it is aborted. */
export function waitFor(waitMs: number, clock: Pick<Clock, 'nowMs' | 'at'>, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      cancelTimer()
      reject(signal?.reason)
    }
    const cancelTimer = clock.at(clock.nowMs() + waitMs, () => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    })
    if (signal?.aborted === true) aborted()
    else signal?.addEventListener('abort', aborted, { once: true })
  })
}

/** A clock for durations. Its time is the steady time, so a step of the wall clock does not change them. */
export const steadyClock = (clock: Clock): Clock => ({
  nowMs: () => clock.steadyMs(),
  steadyMs: () => clock.steadyMs(),
  at: (atMs, task) => clock.at(atSteady(clock, atMs), task),
})

/** The longest single wait. It limits how late a forward step of the wall clock is noticed. */
const waitMsMax = 60_000

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  at(atMs, task) {
    let timer: NodeJS.Timeout
    const untilSteadyMs = performance.now() + atMs - Date.now()
    // A Node timer may fire up to a millisecond early and cannot wait beyond 2^31−1 ms. So the clocks are read each time, and the wait is repeated.
    const wait = (): void => {
      const leftMs = Math.min(atMs - Date.now(), untilSteadyMs - performance.now())
      if (leftMs <= 0) task()
      else timer = setTimeout(wait, Math.min(Math.ceil(leftMs), waitMsMax))
    }
    timer = setTimeout(wait, Math.min(Math.max(atMs - Date.now(), 0), waitMsMax))
    return () => clearTimeout(timer)
  },
}
