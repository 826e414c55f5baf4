/** An error of an attempt for tests, with nothing known about its times unless given. */
import type { AttemptError, AttemptErrorInput } from '../../schemas/index.ts'

export const attemptError = (given: Omit<AttemptErrorInput, 'dueAt' | 'dispatchedAt'> & Partial<AttemptError>): AttemptError =>
  ({
    ...{ worker: null, dueAt: given.at, dispatchedAt: given.at, startedAt: null, stack: null },
    ...given,
  }) as AttemptError
