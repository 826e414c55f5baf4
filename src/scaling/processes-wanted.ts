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
  processes: number
  recent: readonly { atMs: number; processes: number }[]
  reason: string
}

export interface ProcessLimits {
  min: number
  max: number
  coolDownMs: number
}

export const firstProcesses = ({ min }: ProcessLimits): Decided => ({ processes: min, recent: [], reason: 'start' })

/** `nowMs`: a steady clock. */
export function processesWanted(wish: Wish, before: Decided, { min, max, coolDownMs }: ProcessLimits, nowMs: number): Decided {
  const processes = Math.min(Math.max(wish.processes, min), max)
  const recent = [
    ...before.recent.filter((each) => nowMs - each.atMs < coolDownMs && each.processes > processes),
    { atMs: nowMs, processes },
  ]
  const most = recent[0]?.processes ?? processes
  if (processes > before.processes) return { processes, recent, reason: wish.reason }
  // Before a cool-down has passed since the start, nothing is known about less.
  if (most < before.processes) return { processes: most, recent, reason: 'cool-down' }
  return { processes: before.processes, recent, reason: before.reason }
}

/** Processes of this machine: all that run, and those of them that are members of their pools. The others are starting. */
export interface OwnProcesses {
  running: number
  joined: number
}

/**
 * The share of this machine in the workers of a pool, by the share of the members that it has now. Others who count the same come to theirs.
 * While none of its own has joined, its share is unknown, and it keeps what it has.
 */
export function shareOf(wanted: number, { running, joined }: OwnProcesses, all: number): number {
  if (joined === 0) return running
  return joined >= all ? wanted : Math.ceil((wanted * joined) / all - 1e-9)
}
