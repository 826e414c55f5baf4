/**
 * Run numbers of a job: sets of them, and the lives to which they belong. All of it is plain data, so that it can be stored.
 *
 * A set is stored as ranges. Few numbers are missing, so its size does not grow with the runs.
 *
 * A job that was deleted and defined again numbers its runs from 1 again. The offsets of the definitions separate its lives: run
 * numbers that restart under a later definition belong to another life.
 */

/** A time or offset that no record has given yet. Known values are zero or positive. */
export const unknown = -1

/**
 * Largest number of ranges in one set. Beyond it the two lowest ranges are joined, and the numbers between them count as members.
 */
const rangesMax = 64

/** Ascending and disjoint; both ends are inclusive. */
export type NumberSet = [from: number, to: number][]

export function hasNumber(set: NumberSet, number: number): boolean {
  for (let at = set.length - 1; at >= 0; at--) {
    const [from, to] = set[at] as [number, number]
    if (number > to) return false
    if (number >= from) return true
  }
  return false
}

export function addNumber(set: NumberSet, number: number): void {
  let at = set.length
  while (at > 0 && (set[at - 1] as [number, number])[0] > number) at--
  const [before, after] = [set[at - 1], set[at]]
  if (before !== undefined && number <= before[1]) return
  const joinsBefore = before !== undefined && before[1] === number - 1
  const joinsAfter = after !== undefined && after[0] === number + 1
  if (joinsBefore && joinsAfter) {
    before[1] = after[1]
    set.splice(at, 1)
  } else if (joinsBefore) before[1] = number
  else if (joinsAfter) after[0] = number
  else set.splice(at, 0, [number, number])
  if (set.length > rangesMax) {
    const [low, next] = set as [[number, number], [number, number]]
    set.splice(0, 2, [low[0], next[1]])
  }
}

/** 1 to `last` without these. */
export function numbersExcept(last: number, without: readonly number[]): NumberSet {
  const set: NumberSet = []
  let from = 1
  for (const number of [...without].sort((a, b) => a - b)) {
    if (from < number) set.push([from, number - 1])
    from = number + 1
  }
  if (from <= last) set.push([from, last])
  const [low, ...rest] = set.splice(0, Math.max(1, set.length - rangesMax + 1))
  return low === undefined ? [] : [[low[0], rest.at(-1)?.[1] ?? low[1]], ...set]
}

export interface Lives {
  /** The last few definitions, each with the run numbers that were seen. */
  lives: [specOffset: number, least: number, most: number][]
  /** Definitions up to this offset belong to a life that has ended. */
  pastSpec: number
}

const livesMax = 16
export function noteLife(account: Lives, specOffset: number, runNo: number): void {
  const life = account.lives.find(([offset]) => offset === specOffset)
  if (life === undefined) {
    account.lives = [...account.lives, [specOffset, runNo, runNo] as [number, number, number]]
      .sort(([a], [b]) => a - b)
      .slice(-livesMax)
  } else {
    life[1] = Math.min(life[1], runNo)
    life[2] = Math.max(life[2], runNo)
  }
}

/** Returns a function that numbers the life of a definition by its offset. */
export function livesOf({ lives, pastSpec }: Lives): (specOffset: number) => number {
  const numbers = new Map<number, number>()
  let [life, last] = [0, 0]
  for (const [specOffset, least, most] of lives) {
    if (least <= last) {
      life++
      last = 0
    }
    last = Math.max(last, most)
    numbers.set(specOffset, life)
  }
  return (specOffset) => (specOffset <= pastSpec && specOffset !== unknown ? unknown : (numbers.get(specOffset) ?? life))
}

/** Whether a run of this definition belongs to the latest life in the log. */
export function isPresentLife(account: Lives, specOffset: number): boolean {
  if (specOffset === unknown) return true
  const latest = account.lives.at(-1)?.[0] ?? specOffset
  if (latest <= specOffset) return specOffset > account.pastSpec
  const lives = livesOf(account)
  return lives(specOffset) === lives(latest) && specOffset > account.pastSpec
}
