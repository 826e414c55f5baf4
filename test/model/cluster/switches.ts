/**
 * What the histories may do and what the oracle asks, by name. A switch is off as long as the program is known not to stand it: then its
 * line says why. DUELOG_MODEL_SWITCHES names some that are to be on beside those, separated by commas, or `all`; with a minus before it
 * one is off.
 */
const standing = {
  /** Asked: whether each lost lease, timeout and expiry was necessary. */
  necessity: true,
  /** Asked: whether a job that was revived while Duelog's own tombstone was on its way stays. */
  revivalsStay: true,
  /** Asked: whether workers are told of the runs of a deleted job. */
  deletionsTellWorkers: true,
  /** Done: misfortunes.ts says what each is. */
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
