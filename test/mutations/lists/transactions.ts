/** Mutations of the requests of producers and transactions. */
import { area } from '../mutation.ts'

const coordinator = 'src/log/kafka/client/transaction-coordinator.ts'
const produce = 'src/log/kafka/client/produce.ts'
const requests = 'src/log/kafka/client/producer-requests.ts'
const protocol = 'src/log/kafka/client/protocol.ts'
const errors = 'src/log/kafka/client/errors.ts'

export const transactionMutations = area(
  'transactions',
  ['kafka/client/transaction-coordinator', 'kafka/client/produce', 'kafka/client/producer-requests'],
  [
    [
      'v1-end-again',
      coordinator,
      'producer.isV2 ? isUndecided : isRefusedForNow',
      'isUndecided',
      'a late end ends a later transaction',
    ],
    [
      'v2-end-once',
      coordinator,
      'producer.isV2 ? isUndecided : isRefusedForNow',
      'isRefusedForNow',
      'a lost coordinator reopens',
    ],
    ['no-doubt', coordinator, 'doubts.add(producer)', '', 'the fence aborts what is left of a commit'],
    ['doubt-stays', coordinator, 'if (!isUndecided(error)) doubts.delete(producer)', '', 'a refused commit is asked for again'],
    [
      'doubt-lost',
      coordinator,
      'if (!isUndecided(error)) doubts.delete(producer)',
      'doubts.delete(producer)',
      'an unanswered commit is forgotten',
    ],
    [
      'fence-before-doubts',
      coordinator,
      "&& typeOf(error) !== 'UNKNOWN') throw error",
      "&& typeOf(error) === 'UNKNOWN') throw error",
      'a fence without an answer to the commit',
    ],
    [
      'permission-for-ever',
      coordinator,
      'this.#nowMs() - permittedAtMs < permittedMs',
      'permittedAtMs > 0',
      'a process that has left the group fences',
    ],
    ['no-permission', coordinator, 'init, endMs, isLoss, permission', 'init, endMs, isLoss', 'a repeated fence is not permitted'],
    [
      'epoch-kept',
      coordinator,
      'return { ...producer, ...next }',
      'return producer',
      'the next transaction has the epoch of the last',
    ],
    [
      'coordinator-kept',
      coordinator,
      "if (typeOf(error) !== 'CONCURRENT_TRANSACTIONS') this.#nodeId = undefined",
      '',
      'a lost coordinator is asked for ever',
    ],
    ['closed-goes-on', coordinator, '!signal.aborted && isPassing(error)', 'isPassing(error)', 'a closed writer goes on'],
    [
      'closed-commits',
      coordinator,
      '    signal.throwIfAborted()\n    doubts.add',
      '    doubts.add',
      'a commit that was never sent is in doubt',
    ],
    ['sequences-kept', produce, 'this.#sequences = new Map()\n  }', '}', 'an epoch begins with another sequence number than 0'],
    [
      'sequence-of-repeat',
      produce,
      'const left = group.filter(({ offset }) => offset === undefined)',
      'const left = group',
      'what a broker has accepted is sent again',
    ],
    [
      'all-retried',
      produce,
      '|| !isLoss(failure)) return false',
      ') return false',
      'a final refusal is tried again until the time is over',
    ],
    [
      'none-retried',
      produce,
      '|| !isLoss(failure)) return false',
      '|| isLoss(failure)) return false',
      'a refusal for a moment fails the write',
    ],
    [
      'stale-leader',
      produce,
      'if (!unmoved.has(typeOf(failure)))',
      'if (unmoved.has(typeOf(failure)))',
      'the former leader is asked again and again',
    ],
    [
      'in-flight',
      produce,
      'await Promise.allSettled(deliveries)',
      'await Promise.all(deliveries.map((each) => each.then(() => ({ status: "fulfilled" }), (reason) => { throw reason })))',
      'a failure is told while a write is in flight',
    ],
    [
      'missing-answer',
      produce,
      'failures.length === 0 && unanswered >= 0',
      'false',
      'a partition without an answer counts as written',
    ],
    [
      'passing-first',
      produce,
      'failures.find((failure) => !isLoss(failure)) ?? failures[0]',
      'failures[0]',
      'a final refusal hides behind one for a moment',
    ],
    ['wrap-early', produce, '& sequenceMax', '& 1', 'sequence numbers repeat'],
    [
      'no-attempted',
      requests,
      "found.find((error) => error !== 'OPERATION_NOT_ATTEMPTED') ?? found[0]",
      'found[0]',
      'the error of an added partition does not name the right that is missing',
    ],
    ['v2-without-feature', requests, 'newest >= 2', 'newest >= 1', 'version 2 is used where it is not switched on'],
    [
      'old-broker',
      requests,
      'if (errorIn(answer).error !== undefined) return',
      'if (errorIn(answer).error === undefined) return',
      'an old broker is not understood',
    ],
    ['tags-unskipped', protocol, 'this.#at = from + bytes\n    }', '}', 'a tag of a later version is read as the next field'],
    [
      'null-is-empty',
      protocol,
      'const length = value === null ? -1 : Buffer.byteLength(value)',
      'const length = value === null ? 0 : Buffer.byteLength(value)',
      'a producer without transactions has an empty id',
    ],
    [
      'flexible-length',
      protocol,
      'if (this.#isFlexible) this.#varint(count + 1)',
      'if (this.#isFlexible) this.#varint(count)',
      'the broker reads one too few',
    ],
    ['replicas-final', errors, "'NOT_ENOUGH_REPLICAS', ", '', 'a broker that restarts fails writes'],
  ],
)
