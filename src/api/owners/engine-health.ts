/** The health of a front with that of its engine: whoever looks at the address of a Duelog sees both. */
import type { Clock } from '../../clock/index.ts'
import { SharedAnswer, withTimeout } from '../../concurrency/index.ts'
import type { Health } from '../../ports/index.ts'

/** Probes wait for 5 s. An engine that commits or restores answers in between. */
const answerMsMax = 3_000
/** Probes are free for everybody, so not each of them reaches the engine. */
const answerKeptMs = 250

const silent: Health = {
  live: false,
  ready: false,
  reasons: [`The process of the scheduler has not answered within ${answerMsMax / 1_000} s.`],
}

export function engineHealth(own: () => Health, ask: () => Promise<Health>, clock: Clock): () => Promise<Health> {
  let known: { health: Health; atMs: number } | undefined
  const asked = new SharedAnswer(async () => {
    if (known !== undefined && clock.steadyMs() - known.atMs < answerKeptMs) return known.health
    const health = (await withTimeout(clock, answerMsMax, ask())) ?? silent
    known = { health, atMs: clock.steadyMs() }
    return health
  })
  return async () => {
    const [here, there] = [own(), await asked.get()]
    return { live: here.live && there.live, ready: here.ready && there.ready, reasons: [...here.reasons, ...there.reasons] }
  }
}
