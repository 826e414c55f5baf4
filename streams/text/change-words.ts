/** What an operation changes, in words. The command line and the dashboard say the same. */

export interface ChangeWords {
  /** Past participle of the change. */
  done: string
  /** What is changed. */
  thing: string
  /** Infinitive, if things that match and are already so are not counted. */
  unless?: string
}

const words: Record<string, ChangeWords> = {
  PAUSE: { done: 'paused', thing: 'job', unless: 'pause' },
  RESUME: { done: 'resumed', thing: 'job', unless: 'resume' },
  CANCEL: { done: 'cancelled', thing: 'job', unless: 'cancel' },
  TRIGGER: { done: 'triggered', thing: 'job' },
  DELETE: { done: 'deleted', thing: 'job' },
  REDRIVE: { done: 'redriven', thing: 'dead run' },
  DISCARD: { done: 'discarded', thing: 'dead run' },
  CANCEL_RUN: { done: 'cancelled', thing: 'active run' },
}

/** Later versions of the server may have other actions. */
export const changeWords = (action: string): ChangeWords =>
  Object.hasOwn(words, action) ? (words[action] as ChangeWords) : { done: 'changed', thing: 'thing' }

/** An operation that found nothing. `filter`: as in its request; null or undefined: it had a list. */
export function nothingFound(action: string, filter: object | null | undefined): string {
  const { thing, unless } = changeWords(action)
  const what = unless === undefined ? thing : `${thing} to ${unless}`
  if (filter == null) return `No ${what} of the list was found; nothing was changed.`
  if (Object.keys(filter).length === 0) return `There is no ${what}; nothing was changed.`
  return `No ${what} matches the filter; nothing was changed.`
}
