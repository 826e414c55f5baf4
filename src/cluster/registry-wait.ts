/** The wait of a program for a registry that starts some seconds after its broker, as that of `npm start` does. */
import { atSteady, type Clock } from '../clock/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { Logger } from '../logging/index.ts'

const registryWaitMs = 20_000
const againMs = 500

export interface RegistryWait {
  clock: Clock
  logger: Pick<Logger, 'warn'>
  /** Aborted: the program does not want it any more. */
  isClosed(): boolean
}

/** What `open` opens. `registry-unavailable` is tried again for 20 s. Rejects with all other errors at once. */
export async function whenRegistryIsUp<Opened>(
  open: () => Promise<Opened>,
  { clock, logger, isClosed }: RegistryWait,
): Promise<Opened> {
  const untilMs = clock.steadyMs() + registryWaitMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await open()
    } catch (error) {
      const isDown = error instanceof DuelogError && error.code === 'registry-unavailable'
      const nextMs = clock.steadyMs() + againMs
      if (!isDown || isClosed() || nextMs > untilMs) throw error
      if (isFirst)
        logger.warn({ event: 'registry-awaited', err: error }, 'The schema registry does not answer yet; it is tried for 20 s.')
      await new Promise<void>((resolve) => clock.at(atSteady(clock, nextMs), resolve))
    }
  }
}
