/** Reasons of a job with those that say the same merged, however their run numbers and times differ. */
/** A reason as the API answers it. */
interface Reason {
  code: string
  text: string
  at: string | null
}

export interface NamedReason extends Reason {
  /** Run that the sentence names. */
  runNo: number | undefined
  /** Whether it tells the end of that run by an error. */
  isEnd: boolean
}

export interface ReasonGroup {
  code: string
  /** Sentence and time of the first, which is the newest. */
  text: string
  at: string | null
  reasons: NamedReason[]
}

const numbers = /\d+/g

/** In the order of the first of each group. Reasons of the present are never merged with decisions of the past. */
export function reasonGroups(why: readonly Reason[]): ReasonGroup[] {
  const groups = new Map<string, ReasonGroup>()
  for (const reason of why) {
    const { code, text, at } = reason
    const named = /\bRun (\d+)\b/.exec(text)?.[1]
    const isEnd = / became a dead letter/.test(text)
    const entry: NamedReason = { ...reason, runNo: named === undefined ? undefined : Number(named), isEnd }
    const key = `${code} ${text.replace(numbers, '#')}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { code, text, at, reasons: [entry] })
    else group.reasons.push(entry)
  }
  return [...groups.values()]
}
