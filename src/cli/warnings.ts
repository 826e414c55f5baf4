/** Node's own warnings, without the one that tells a user nothing. */

/**
 * The Kafka client plans a check for a moment that has passed; Node then waits 1 ms, which is what is wanted, and warns of it once.
 * There is no option to leave out one kind of warning from within, so Node's printing is put behind a filter.
 */
const harmless = 'TimeoutNegativeWarning'

export function hideHarmlessWarnings(): void {
  const print = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name !== harmless) for (const listener of print) listener(warning)
  })
}
