/** SIGINT and SIGTERM: the first requests a graceful stop, the second ends the process at once. */

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const
export type StopSignal = keyof typeof exitCodes

/**
 * npm passes a terminal's Ctrl-C on to its script, which also gets it from the terminal, so it arrives twice within moments.
 * Only a signal that comes later than this counts as the second.
 */
const sameSignalMs = 400

/** How long a stop waits for an unfinished start, in ms. */
export const startMsMax = 5_000

export interface Signals {
  /** Aborted by the first signal. */
  readonly stop: AbortSignal
  /** 130 for SIGINT, 143 for SIGTERM; undefined before the first signal. */
  readonly exitCode: number | undefined
  /** Restores the default effect of the signals. */
  dispose(): void
}

/** The parts of `process` that are used. */
export interface SignalSource {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown
  off(signal: StopSignal, listener: (signal: StopSignal) => void): unknown
  exit(code: number): void
}

export function watchSignals(source: SignalSource = process, nowMs: () => number = Date.now): Signals {
  const controller = new AbortController()
  let first: { atMs: number; code: number } | undefined
  const listen = (signal: StopSignal): void => {
    const code = exitCodes[signal]
    if (first === undefined) {
      first = { atMs: nowMs(), code }
      controller.abort()
    } else if (nowMs() - first.atMs > sameSignalMs) source.exit(code)
  }
  const names = Object.keys(exitCodes) as StopSignal[]
  for (const name of names) source.on(name, listen)
  return {
    stop: controller.signal,
    get exitCode() {
      return first?.code
    },
    dispose() {
      for (const name of names) source.off(name, listen)
    },
  }
}
