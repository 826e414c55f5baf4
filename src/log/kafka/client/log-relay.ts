/**
 * Relays kafkajs's log entries to our logger. While a broker is unreachable, kafkajs logs the same for each connection and each
 * try, with stacks. The first entry of a kind is logged at once. The others are counted, and logged with their count once a
 * minute.
 */
import { type LogEntry, logLevel } from 'kafkajs'
import type { Logger } from '../../../ground/logging/index.ts'

/** Events that kafkajs reports as warnings or errors and that need no action. Some are about silent brokers, which we log ourselves. */
const everyday =
  /rebalanc|re-joining|Limiting retries|not aware of this member|not the (leader for that|correct coordinator)|Restarting the consumer|coordinator is (loading|not available)|taken for lost/i

const everyMs = 60_000
/** Kinds that are remembered at a time. Beyond that, the oldest is logged in full again. */
const kindsMax = 100

interface Kind {
  say(facts: object): void
  /** Since it was last logged. */
  count: number
  last: object
}

/** Receives the log entries of one Kafka client. */
export function relayTo(logger: Pick<Logger, 'debug' | 'info' | 'warn'>): (entry: LogEntry) => void {
  const kinds = new Map<string, Kind>()
  const sayAgain = (key: string, kind: Kind): void => {
    if (kinds.get(key) !== kind) return
    if (kind.count === 0) return void kinds.delete(key)
    kind.say({ ...kind.last, repeated: kind.count })
    kind.count = 0
    setTimeout(sayAgain, everyMs, key, kind).unref()
  }
  return ({ level, namespace, log: { message, logger: _, timestamp: __, stack, ...facts } }) => {
    const text = `kafkajs ${namespace}: ${message}`
    if (everyday.test(message) || everyday.test(String(facts.error ?? '')))
      return logger.debug({ event: 'kafka-client-everyday', ...facts }, text)
    // The kind of an entry: its text without numbers, such as ports, tries and times.
    const key = text.replace(/\d+/g, '#')
    const known = kinds.get(key)
    if (known !== undefined) {
      known.count++
      known.last = facts
      return
    }
    const say = (all: object): void =>
      level === logLevel.ERROR
        ? logger.warn({ event: 'kafka-client-warning', ...all }, text)
        : logger.info({ event: 'kafka-client-info', ...all }, text)
    const kind: Kind = { say, count: 0, last: facts }
    for (const oldest of kinds.keys()) {
      if (kinds.size < kindsMax) break
      kinds.delete(oldest)
    }
    kinds.set(key, kind)
    say(stack === undefined ? facts : { ...facts, stack })
    setTimeout(sayAgain, everyMs, key, kind).unref()
  }
}
