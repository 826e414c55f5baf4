/** A thread for thread-calls.test.ts. */
import { answerCalls } from '../../src/ground/process/thread-calls.ts'

const calls: Record<string, (argument: never, signal: AbortSignal) => unknown> = {
  echo: (value) => value,
  fail: () => {
    throw new TypeError('no such thing')
  },
  hang: () => {
    for (;;);
  },
  die: () => process.exit(1),
  untilGone: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
}
answerCalls((name, [argument], signal) => calls[name]?.(argument as never, signal), { isInTurn: true })
