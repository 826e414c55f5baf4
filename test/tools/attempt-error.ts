/** An error of an attempt for tests, with nothing known about its times unless given. */
import type { AttemptError, AttemptErrorInput } from '../../schemas/index.ts'

export const attemptError = (given: AttemptErrorInput): AttemptError =>
  ({
    ...{ worker: null, dueAt: null, dispatchedAt: null, startedAt: null, stack: null },
    ...given,
  }) as AttemptError
