/**
 * The failures and checks of the histories, by name. A switch is off as long as the program is known to fail with it, and its
 * line says why. DUELOG_MODEL_SWITCHES names switches to turn on as well, separated by commas, or `all`. A minus before a name
 * turns that switch off.
 */
const standing = {
  /** Check: each lost lease, timeout and expiry was necessary. */
  necessity: true,
  /** Check: a job stays that was revived while Duelog's own tombstone was on its way. */
  revivalsStay: true,
  /** Check: workers are notified about the runs of a deleted job. */
  deletionsTellWorkers: true,
  /** Failures: faults.ts describes each. */
  /** With owners whose clocks are guarded. */
  clockSteps: true,
  truncation: true,
  recreation: true,
  /** Users of some histories have payloads of up to 500 kB, and bursts of them. */
  sizes: true,
  retention: true,
  openTransactions: true,
  slowCommits: true,
  registry: true,
  stores: true,
  brokenDisks: true,
  floods: true,
  fullBrokers: true,
  nonsense: true,
}

export type Switch = keyof typeof standing

const named = (process.env.DUELOG_MODEL_SWITCHES ?? '').split(',')

export function isOn(name: Switch): boolean {
  if (named.includes(`-${name}`)) return false
  return standing[name] || named.includes(name) || named.includes('all')
}
