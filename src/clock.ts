/** The wall clock as a port, so that tests and the simulator can move time by hand. */
export interface Clock {
  /** Wall-clock time in epoch milliseconds. */
  nowMs(): number
  /** Runs `task` once, not before `atMs`; returns a function that calls it off. Handles times beyond the 2^31−1 ms that a Node timer can wait. */
  at(atMs: number, task: () => void): () => void
}

/** The longest single wait. It bounds how late a forward step of the wall clock is noticed. */
const WAIT_MS_MAX = 60_000

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  at(atMs, task) {
    let timer: NodeJS.Timeout
    // A Node timer may fire up to a millisecond early and cannot wait beyond 2^31−1 ms: ask the clock each time and wait again.
    const wait = (): void => {
      const leftMs = atMs - Date.now()
      if (leftMs <= 0) task()
      else timer = setTimeout(wait, Math.min(leftMs, WAIT_MS_MAX))
    }
    timer = setTimeout(wait, Math.min(Math.max(atMs - Date.now(), 0), WAIT_MS_MAX))
    return () => clearTimeout(timer)
  },
}

/** A wall clock that moves by more than this against the steady one has been set, or the machine slept. */
const stepMsMin = 2_000
const stepLookMs = 1_000

/**
 * Tells of each step of the wall clock: timers wait for it, so whoever runs them wants to know. Returns a function that ends the watch.
 * A step back delays timers and repeats nothing; a step forward is seen like a sleep, and what it passed over as misfires.
 */
export function watchClock(stepped: (byMs: number) => void): () => void {
  let wallMs = Date.now()
  let steadyMs = performance.now()
  const timer = setInterval(() => {
    const byMs = Date.now() - wallMs - (performance.now() - steadyMs)
    wallMs = Date.now()
    steadyMs = performance.now()
    if (Math.abs(byMs) > stepMsMin) stepped(Math.round(byMs))
  }, stepLookMs)
  timer.unref()
  return () => clearInterval(timer)
}
