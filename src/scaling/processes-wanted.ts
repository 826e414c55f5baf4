/**
 * From the workers that pools need to the processes of one machine: within its limits, up at once, and down only to what was the most
 * within the cool-down. Pure.
 */

/** What one measurement of all pools says. */
export interface Wish {
  /** Processes of this machine that the pools need. */
  processes: number
  reason: string
}

/** The wishes of the cool-down that are still of use: each is larger than all after it. */
export interface Decided {
  /** Undefined: nothing was measured yet. */
  atMs: number | undefined
  processes: number
  recent: readonly { atMs: number; processes: number }[]
  reason: string
}

export interface ProcessLimits {
  min: number
  max: number
  coolDownMs: number
}

export const firstProcesses = ({ min }: ProcessLimits): Decided => ({
  atMs: undefined,
  processes: min,
  recent: [],
  reason: 'start',
})

/** `nowMs`: a steady clock. */
export function processesWanted(wish: Wish, before: Decided, { min, max, coolDownMs }: ProcessLimits, nowMs: number): Decided {
  const atMs = nowMs
  const processes = Math.min(Math.max(wish.processes, min), max)
  const isGap = before.atMs !== undefined && nowMs - before.atMs >= gapMs
  const earlier = isGap ? [{ atMs, processes: before.processes }] : before.recent
  const recent = [...earlier.filter((each) => nowMs - each.atMs < coolDownMs && each.processes > processes), { atMs, processes }]
  const most = recent[0]?.processes ?? processes
  if (processes > before.processes) return { atMs, processes, recent, reason: wish.reason }
  if (most < before.processes) return { atMs, processes: most, recent, reason: 'cool-down' }
  return { atMs, processes: before.processes, recent, reason: before.reason }
}

/** After such a time without a measurement, nobody knows how many were needed: the cool-down begins anew. */
export const gapMs = 15_000

/** Processes of this machine: all that run, those that are members of the pool, and those that are paused. The others are starting. */
export interface OwnProcesses {
  running: number
  members: number
  paused: number
}

/**
 * The share of this machine in the workers of a pool, by the share of the members that it has now. Others who count the same come to theirs.
 * While those that it has are starting, its share is unknown, and it keeps them. Those that are paused do nothing for the pool, so they come in
 * addition.
 */
export function shareOf(wanted: number, { running, members, paused }: OwnProcesses, all: number): number {
  if (members === 0 && paused < running) return running
  if (members === 0) return paused + (all === 0 ? wanted : 0)
  return paused + (members >= all ? wanted : Math.ceil((wanted * members) / all - 1e-9))
}
