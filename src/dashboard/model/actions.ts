/** Notices of what an action did, also for screen readers, and confirmations before actions that cannot be undone. */
import { signal } from '@preact/signals'
import type { CommandResult } from '../../answers/index.ts'
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
  // An error stays until the user dismisses it.
  if (!bad)
    clearing = setTimeout(() => {
      notice.value = undefined
    }, noticeMs)
}

/** The user has corrected what an error was about. */
export function forgetError(): void {
  if (notice.peek()?.bad === true) notice.value = undefined
}

/** Number of actions whose answers are awaited. Meanwhile lists stay as they are, so that no row moves under the pointer. */
export const actionsAwaited = signal(0)

export async function awaited<Value>(action: () => Promise<Value>): Promise<Value> {
  actionsAwaited.value++
  try {
    return await action()
  } finally {
    actionsAwaited.value--
  }
}

/** Sends a request and shows its outcome. `done` gives the text, unless the owner has not applied the command yet or refused it. */
export async function act(
  request: () => Promise<CommandResult | undefined>,
  done: (answer: CommandResult | undefined) => string,
): Promise<boolean> {
  try {
    const answer = await request()
    if (answer?.applied === false && answer.detail !== undefined) say(answer.detail)
    else if (answer?.runId === null) say(`No run was created: ${answer.reason ?? 'no reason was given'}.`, true)
    else say(done(answer))
    return true
  } catch (error) {
    say(error instanceof RequestProblem ? error.message : String(error), true)
    return false
  }
}

export interface Question {
  title: string
  /** What happens when the user confirms. */
  consequence: string
  /** Label of the button that confirms. */
  yes: string
  /** Label of the button that does not; "Cancel" when absent. */
  no?: string
  /** It destroys nothing, so its button has no warning color. */
  safe?: boolean
  answer(yes: boolean): void
}
export const question = signal<Question | undefined>(undefined)

/** Resolves with true when the user confirms. */
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
