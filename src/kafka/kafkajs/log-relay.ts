/**
 * What kafkajs says, for our log. While a broker is away it says the same of each connection and each try, with stacks: the first of its kind
 * is said at once, the others are counted, and said with their count once a minute.
 */
import { type LogEntry, logLevel } from 'kafkajs'

interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
}

/**
 * Events that kafkajs reports as warnings or errors and that need nobody: what we say ourselves of silent brokers is one, and that a
 * producer was fenced, as at each handover of a partition; who is fenced unawares says so itself (duelog_fenced_total, reopens).
 */
const everyday =
  /rebalanc|re-joining|Limiting retries|not aware of this member|not the (leader for that|correct coordinator)|another concurrent operation|Restarting the consumer|coordinator is (loading|not available)|taken for lost|operation with an old epoch|newer producer with the same transactionalId/i

const everyMs = 60_000
/** Kinds that are known at a time; of more the oldest is said again in full. */
const kindsMax = 100

interface Kind {
  say(facts: object): void
  /** Since it was said. */
  count: number
  last: object
}

/** Receives the entries of one kafkajs. */
export function relayTo(logger: Logger): (entry: LogEntry) => void {
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
    if (everyday.test(message) || everyday.test(String(facts.error ?? ''))) return logger.debug(facts, text)
    // Of one kind: but for numbers, such as ports, tries and times.
    const key = text.replace(/\d+/g, '#')
    const known = kinds.get(key)
    if (known !== undefined) {
      known.count++
      known.last = facts
      return
    }
    const say = (all: object): void => (level === logLevel.ERROR ? logger.warn(all, text) : logger.info(all, text))
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
