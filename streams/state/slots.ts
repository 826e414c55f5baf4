/**
 * Slots of a concurrencyKey: which runs hold one, which wait, and in which order. All of it follows from the states of jobs. An owner
 * counts the difference that each decision makes, and derives the queue in the same way as timers.
 */
import type { ActiveRun, JobDefinition, JobState } from '../../schemas/index.ts'
import type { Waiter } from './keys.ts'

/** Number of runs that hold a slot of one key, and that wait for one. */
export interface SlotUse {
  held: number
  waiting: number
}

/** A run holds a slot from its dispatch to its end, and while it waits for a reserved start. A backoff frees the slot. */
export function holdsSlot({ limits, status, waitsFor }: ActiveRun): boolean {
  if (limits === null || limits.concurrencyKey === null) return false
  return status === 'DISPATCHED' || status === 'RUNNING' || (status === 'WAITING' && waitsFor === 'RATE')
}

export const waitsForSlot = ({ limits, status, waitsFor }: ActiveRun): boolean =>
  status === 'WAITING' && waitsFor === 'SLOT' && limits !== null && limits.concurrencyKey !== null

/** Slot use of one job for one key. */
export function slotUse(state: JobState | undefined, key: string): SlotUse {
  const use = { held: 0, waiting: 0 }
  for (const run of state?.active ?? []) {
    if (run.limits?.concurrencyKey !== key) continue
    if (holdsSlot(run)) use.held++
    else if (waitsForSlot(run)) use.waiting++
  }
  return use
}

/** Keys that a job's runs hold slots of or wait for. */
export function slotKeysOf(state: JobState | undefined): Set<string> {
  const keys = new Set<string>()
  for (const { limits } of state?.active ?? [])
    if (limits !== null && limits.concurrencyKey !== null) keys.add(limits.concurrencyKey)
  return keys
}

/** Limit of the key for this run: that of the definition in force if it has the same key, else that of the run. */
export function slotLimitOf(spec: JobDefinition | undefined, { limits }: ActiveRun): number {
  return spec !== undefined && spec.concurrencyKey === limits?.concurrencyKey
    ? spec.concurrencyLimit
    : (limits?.concurrencyLimit ?? 1)
}

/** Entries that the job's runs have in the queues of their keys. */
export function waitersOf(jobId: string, state: JobState | undefined): Waiter[] {
  const waiters: Waiter[] = []
  for (const run of state?.active ?? []) {
    const waiter = waiterOf(jobId, run)
    if (waiter !== undefined) waiters.push(waiter)
  }
  return waiters
}

export function waiterOf(jobId: string, run: ActiveRun): Waiter | undefined {
  const key = run.limits?.concurrencyKey
  if (run.limits === null || key === null || key === undefined || !waitsForSlot(run)) return undefined
  return { key, rank: run.limits.rank, dueAt: run.dueAt, jobId, runNo: run.runNo }
}

export const isSameWaiter = (left: Waiter, right: Waiter): boolean =>
  left.runNo === right.runNo &&
  left.dueAt === right.dueAt &&
  left.rank === right.rank &&
  left.jobId === right.jobId &&
  left.key === right.key
