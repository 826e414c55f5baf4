/** Closing connections of kafkajs, which may wait without an end: a stop once hung for nine minutes while all brokers answered. */
import type { LogSettings } from './client.ts'

/** After this time a connection counts as closed, in ms. Brokers notice by themselves that a member or a producer has gone. */
export const closeMsMax = 30_000

/** Resolves when it is closed, or could not be, or after the limit. `what`: for people, as "the reader of group x". */
export async function closed(closing: Promise<unknown>, what: string, settings?: Pick<LogSettings, 'logger'>): Promise<void> {
  const late = Promise.withResolvers<'late'>()
  const timer = setTimeout(late.resolve, closeMsMax, 'late')
  try {
    if ((await Promise.race([closing, late.promise])) !== 'late') return
    settings?.logger.warn(
      { event: 'connection-left-open', what },
      `${what} was not closed within ${closeMsMax / 1_000} s; the stop goes on.`,
    )
  } catch (err) {
    settings?.logger.debug({ event: 'connection-not-closed', what, err }, `${what} could not be closed.`)
  } finally {
    clearTimeout(timer)
  }
}
