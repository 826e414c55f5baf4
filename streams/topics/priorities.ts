/**
 * Priorities: words and numbers, the order in which runs go, and the topics they are dispatched in.
 *
 *   number   9   8     7 │ 6   5   4       3 │ 2   1    0
 *   word         HIGH    │         NORMAL    │     LOW
 *   topic    high          normal              low
 */
import type { Priority } from '../../schemas/index.ts'

export const priorityMax = 9

/** The number of each word. */
export const priorityNumbers: Readonly<Record<Priority, number>> = { HIGH: 8, NORMAL: 4, LOW: 1 }

/** Records of earlier versions and of other writers have the word alone. */
export interface HasPriority {
  priority: Priority
  priorityLevel: number | null
}

export const priorityOf = ({ priority, priorityLevel }: HasPriority): number =>
  priorityLevel === null ? priorityNumbers[priority] : Math.min(Math.max(priorityLevel, 0), priorityMax)

/** What people may write. */
export const priorityAllowed = `HIGH, NORMAL, LOW, or a whole number from 0 to ${priorityMax}`

export const isPriorityNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= priorityMax

/** A word or a number of a command line; upper and lower case are the same. Undefined: it is none. */
export function priorityIn(text: string): Priority | number | undefined {
  const word = text.trim().toUpperCase()
  if (Object.hasOwn(priorityNumbers, word)) return word as Priority
  return /^\d$/.test(word) && isPriorityNumber(Number(word)) ? Number(word) : undefined
}

/** The word whose topic a number is dispatched in. */
export const wordOf = (priority: number): Priority => (priority >= 7 ? 'HIGH' : priority >= 3 ? 'NORMAL' : 'LOW')

/** As people wrote it. */
export const shownPriority = ({ priority, priorityLevel }: HasPriority): Priority | number => priorityLevel ?? priority

/** Attempts that the order tells apart. */
const attemptsApart = 16

/** Ranks from 0 to this one. */
export const rankMax = (priorityMax + 1) * attemptsApart - 1

/** Place in the order of waiting runs: the lower goes first. By priority, then by attempts. */
export const rankOf = (priority: number, attempt: number): number =>
  (priorityMax - priority) * attemptsApart + Math.min(Math.max(attempt, 1), attemptsApart) - 1

/** One of so many runs that go is not of the best rank: it is the one of the others that has been due longest. So none waits for ever. */
export const agedEvery = 16
