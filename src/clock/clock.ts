/** The clocks of a machine as a port, so that tests and the simulator can move time by hand. */
export interface Clock {
  /** Wall-clock time in epoch milliseconds. It may step. */
  nowMs(): number
  /** Milliseconds of a clock that never steps, from any beginning. It may stand still while the machine sleeps. */
  steadyMs(): number
  /**
   * Runs `task` once: when the wall clock says `atMs`, or when as much time has passed as that was away at the call, whichever is first; so a
   * wall clock that is set back keeps nobody waiting, and whoever needs the time itself looks again. Returns a function that calls it off.
   * Handles times beyond the 2^31−1 ms that a Node timer can wait.
   */
  at(atMs: number, task: () => void): () => void
  /** Who says whether decisions may be made by this clock. Absent: they may. */
  readonly guard?: ClockGuard
}

/** Whether the wall clock of this machine is right, as far as its steady clock and the brokers can tell (guarded-clock.ts). */
export interface ClockGuard {
  /** The time, looked at in this very moment; undefined while nothing may be decided by it. */
  trustedMs(): number | undefined
  /** Why not, for people; undefined while it is trusted. */
  readonly problem: string | undefined
  /** Hears of each time when it is trusted again. Returns a function that ends this. */
  onTrusted(task: () => void): () => void
  /** Hears of each time when it is no longer. Returns a function that ends this. */
  onStopped(task: () => void): () => void
}

/** Epoch ms to decide by; undefined while the clock is not trusted. */
export const trustedMs = (clock: Clock): number | undefined =>
  clock.guard === undefined ? clock.nowMs() : clock.guard.trustedMs()

/** What the wall clock will say when the steady one says `steadyMs`, as the two stand now. */
export const atSteady = (clock: Clock, steadyMs: number): number => clock.nowMs() + steadyMs - clock.steadyMs()

/** A clock for durations: its time is the steady one, so no step of the wall clock lengthens or shortens them. */
export const steadyClock = (clock: Clock): Clock => ({
  nowMs: () => clock.steadyMs(),
  steadyMs: () => clock.steadyMs(),
  at: (atMs, task) => clock.at(atSteady(clock, atMs), task),
})

/** The longest single wait. It bounds how late a forward step of the wall clock is noticed. */
const waitMsMax = 60_000

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  at(atMs, task) {
    let timer: NodeJS.Timeout
    const untilSteadyMs = performance.now() + atMs - Date.now()
    // A Node timer may fire up to a millisecond early and cannot wait beyond 2^31−1 ms: ask the clocks each time and wait again.
    const wait = (): void => {
      const leftMs = Math.min(atMs - Date.now(), untilSteadyMs - performance.now())
      if (leftMs <= 0) task()
      else timer = setTimeout(wait, Math.min(Math.ceil(leftMs), waitMsMax))
    }
    timer = setTimeout(wait, Math.min(Math.max(atMs - Date.now(), 0), waitMsMax))
    return () => clearTimeout(timer)
  },
}
