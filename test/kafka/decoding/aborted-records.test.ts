/** Aborted records are never delivered, in any order in which their transactions began and ended. */
import { expect, test } from 'vitest'
import { withoutAborted } from '../../../src/kafka/decoding/aborted-records.ts'
import type { FetchedMessage } from '../../../src/kafka/decoding/fetched-message.ts'

interface Plan {
  of: string
  /** First and last offset. Default: one record. */
  to?: number
  key?: Buffer
  control?: 'abort' | 'commit'
  inTransaction?: boolean
  unread?: boolean
}

/** One batch at each offset, represented by one message. */
function answer(plans: Record<number, Plan>): FetchedMessage[] {
  return Object.entries(plans).map(([first, { of, to = Number(first), key, control, inTransaction = true, unread }]) => {
    const marker = control === undefined ? undefined : Buffer.from([0, 0, 0, control === 'abort' ? 0 : 1])
    const isControlBatch = marker !== undefined
    const message: FetchedMessage = {
      ...{
        magicByte: 2,
        attributes: 0,
        timestamp: '0',
        offset: String(to),
        key: marker ?? key ?? null,
        value: null,
        headers: {},
      },
      isControlRecord: isControlBatch,
      batchContext: {
        ...{ firstOffset: first, lastOffsetDelta: to - Number(first), producerId: of, inTransaction, isControlBatch },
        ...{ maxTimestamp: '0', timestampType: 0, magicByte: 2 },
      },
    }
    return unread ? { ...message, unread: { firstOffset: Number(first), problem: 'x' } } : message
  })
}

const shown = (messages: FetchedMessage[]): number[] =>
  messages.filter(({ isControlRecord }) => !isControlRecord).map(({ offset }) => Number(offset))
const begun = (producerId: string, firstOffset: number) => ({ producerId, firstOffset: String(firstOffset) })

test('if the transaction that began first ended last: brokers list them in the order of their ends', () => {
  const messages = answer({
    ...{ 10: { of: 'a' }, 11: { of: 'b' }, 12: { of: 'b', control: 'abort' }, 13: { of: 'a' } },
    ...{ 14: { of: 'a', control: 'abort' }, 15: { of: 'a' }, 16: { of: 'c', inTransaction: false } },
  })
  expect(shown(withoutAborted(messages, [begun('b', 11), begun('a', 10)]))).toEqual([15, 16])
})

test('if two had begun before the first record of the answer', () => {
  const messages = answer({
    20: { of: 'b' },
    21: { of: 'a' },
    22: { of: 'c' },
    23: { of: 'b', control: 'abort' },
    24: { of: 'b' },
  })
  expect(shown(withoutAborted(messages, [begun('a', 10), begun('b', 11)]))).toEqual([22, 24])
})

test('a committed transaction ends none, nor does a record whose key looks like an abort marker', () => {
  const key = Buffer.from([0, 0, 0, 0])
  const messages = answer({
    1: { of: 'a', key },
    2: { of: 'a' },
    3: { of: 'b' },
    4: { of: 'b', control: 'commit' },
    5: { of: 'a' },
  })
  expect(shown(withoutAborted(messages, [begun('a', 1)]))).toEqual([3])
})

test('an unreadable batch is not reported in an aborted transaction, and all aborted records are passed over', () => {
  const messages = answer({ 1: { of: 'a', to: 9, unread: true }, 10: { of: 'a', control: 'abort' } })
  const [first, ...rest] = withoutAborted(messages, [begun('a', 5)])
  expect(first).toMatchObject({ offset: '9', isControlRecord: true })
  expect(first).not.toHaveProperty('unread')
  expect(rest).toEqual(messages.slice(1))
})

test('without aborted records everything stays as it is', () => {
  const messages = answer({ 1: { of: 'a' }, 2: { of: 'a', control: 'commit' } })
  expect(withoutAborted(messages, [])).toBe(messages)
})
