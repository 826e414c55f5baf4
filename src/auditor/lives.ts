/**
 * Lives of a job. A job that was deleted and defined again numbers its runs from 1 again. Lives are told apart by the offsets of the
 * definitions: run numbers that restart under a later definition belong to another life.
 */

export interface Lives {
  /** The last few definitions, each with the run numbers that were seen. */
  lives: [specOffset: number, least: number, most: number][]
  /** Definitions up to this offset belong to a life that has ended. */
  pastSpec: number
}

const livesMax = 16
const unknown = -1

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
