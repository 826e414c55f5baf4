/** What was done through the page, said where a screen reader hears it as well; and the question before what cannot be undone. */
import { signal } from '@preact/signals'
import type { Commanded } from './answers.ts'
import { RequestProblem } from './request.ts'

export interface Notice {
  text: string
  bad: boolean
}
export const notice = signal<Notice | undefined>(undefined)
const noticeMs = 6_000
let clearing: ReturnType<typeof setTimeout> | undefined

export function say(text: string, bad = false): void {
  notice.value = { text, bad }
  clearTimeout(clearing)
  // What went wrong stays until it is put away.
  if (!bad)
    clearing = setTimeout(() => {
      notice.value = undefined
    }, noticeMs)
}

/** Does it and says what came of it; `done` tells what to say, unless the owner has not applied the command yet or refused it. */
export async function act(
  deed: () => Promise<Commanded | undefined>,
  done: (answer: Commanded | undefined) => string,
): Promise<boolean> {
  try {
    const answer = await deed()
    if (answer?.applied === false && answer.detail !== undefined) say(answer.detail)
    else if (answer?.runId === null) say(`No run was made: ${answer.reason ?? 'the owner gives no reason'}.`, true)
    else say(done(answer))
    return true
  } catch (error) {
    say(error instanceof RequestProblem ? error.message : String(error), true)
    return false
  }
}

export interface Question {
  title: string
  /** What follows from a yes. */
  consequence: string
  /** The verb on the button. */
  yes: string
  answer(yes: boolean): void
}
export const question = signal<Question | undefined>(undefined)

/** Resolves with whether the user wants it. */
export function confirmed(asked: Omit<Question, 'answer'>): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answer(yes) {
        question.value = undefined
        resolve(yes)
      },
    }
  })
}
