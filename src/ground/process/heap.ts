/** The heap of this process, where V8 alone would keep too much. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** V8 returns pages to the system after a collection of this flavor only. */
const whole = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const

/**
 * Collects what loading the program has left, for example sources and code that ran once. V8 does so only when the heap has grown again,
 * which an idle process never sees: a Duelog of three processes had 610 MB a minute after its start, and has 570 MB (`duelog bench idle`).
 * It takes 60 to 110 ms, so call it before anything can be due.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: typeof whole) => void
  setFlagsFromString('--no-expose-gc')
  collect(whole)
}
