/** The bytes of every key. Stores and changelogs of earlier versions contain them, so none may ever change. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { indexKind, indexRange } from '../../../streams/state/job-index.ts'
import {
  definitionKey,
  definitionValue,
  followUpsKey,
  isRetainedDefinition,
  jobIdOfKey,
  metaKey,
  prefix,
  rangeOf,
  retainedDefinitionKey,
  runKey,
  slotsKey,
  snapshotKey,
  startsKey,
  stateKey,
  storedDefinition,
  type Timer,
  timerBound,
  timerKey,
  timerKind,
  timerOfKey,
  type Waiter,
  waiterKey,
  waiterOfKey,
  waitersRange,
} from '../../../streams/state/keys.ts'

/** Hex with spaces between the parts. */
const parts = (text: string): string => text.replaceAll(' ', '')
const hex = (key: Buffer): string => key.toString('hex')

describe('the bytes of a key', () => {
  it.each<[string, Buffer, string]>([
    ['bookkeeping', metaKey('position'), '4d 706f736974696f6e'],
    ['the slots of a key', slotsKey('k'), '43 6b'],
    ['the starts of a key', startsKey('k'), '57 6b'],
    [
      'a run that waits',
      waiterKey({ key: 'k', rank: 2, dueAt: 258, jobId: 'ab', runNo: 3 }),
      '51 6b 00 02 0000000000000102 6162 00 0000000000000003',
    ],
    ['a definition', definitionKey('job-1'), '44 6a6f622d31'],
    ['a state', stateKey('job-1'), '53 6a6f622d31'],
    ['a state of an id beyond ASCII', stateKey('ü😀'), '53 c3bcf09f9880'],
    ['an ended run', runKey('job-1', 3), '52 6a6f622d31 00 03'],
    ['an ended run in a slot of the run history', runKey('job-1', 40_017), '52 6a6f622d31 00 07'],
    ['a snapshot', snapshotKey('job-1', 258), '50 6a6f622d31 00 0000000000000102'],
    ['a snapshot of the last run there can be', snapshotKey('a', Number.MAX_SAFE_INTEGER), '50 61 00 001fffffffffffff'],
    ['a kept definition', retainedDefinitionKey('job-1'), '50 6a6f622d31 00 0000000000000000'],
    [
      'a timer of a job',
      timerKey({ dueAt: 1_750_000_000_123, kind: timerKind.fire, jobId: 'job-1', runNo: 0 }),
      '54 000001977420dc7b 01 6a6f622d31 00 0000000000000000',
    ],
    [
      'a timer of a run',
      timerKey({ dueAt: 2 ** 32, kind: timerKind.retry, jobId: 'é', runNo: 7 }),
      '54 0000000100000000 05 c3a9 00 0000000000000007',
    ],
    ['a bound of timers', timerBound(1_750_000_000_123), '54 000001977420dc7b'],
  ])('of %s never change', (_, key, bytes) => {
    expect(hex(key)).toBe(parts(bytes))
  })
  it('of a definition contain its offset before its value', () => {
    const value = definitionValue({ offset: 258, appendedAt: 1_750_000_000_123, bytes: Buffer.from('abc') })
    expect(hex(value)).toBe(parts('0000000000000102 000001977420dc7b 616263'))
  })
  it('of kinds and prefixes are unique for ever', () => {
    expect(prefix).toEqual({
      ...{ meta: 0x4d, definition: 0x44, state: 0x53, run: 0x52, snapshot: 0x50, timer: 0x54 },
      ...{ index: 0x49, slots: 0x43, waiter: 0x51, starts: 0x57, followUps: 0x46 },
    })
    expect(timerKind).toEqual({
      fire: 1,
      lease: 2,
      attemptTimeout: 3,
      startDeadline: 4,
      retry: 5,
      delete: 6,
      start: 7,
      recheck: 8,
      zone: 9,
      misdated: 10,
      workers: 11,
      target: 12,
      followUps: 13,
    })
  })
})

/** Any valid id, often one that is the beginning of another. */
const jobId = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom('a', 'aa', 'ab', 'a/', 'b', 'é', '😀', '￿'),
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((id) => id.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f]/.test(id)),
  )
const number = (): fc.Arbitrary<number> => fc.oneof(fc.maxSafeNat(), fc.nat(3), fc.constantFrom(2 ** 32 - 1, 2 ** 32, 2 ** 52))
const timer = (): fc.Arbitrary<Timer> =>
  fc.record({ dueAt: number(), kind: fc.constantFrom(...Object.values(timerKind)), jobId: jobId(), runNo: number() })

const waiter = (): fc.Arbitrary<Waiter> =>
  fc.record({ key: jobId(), rank: fc.integer({ min: 0, max: 2 }), dueAt: number(), jobId: jobId(), runNo: number() })

describe('an encoded key', () => {
  it('decodes again: a run that waits', () => {
    fc.assert(
      fc.property(waiter(), (given) => {
        expect(waiterOfKey(waiterKey(given))).toEqual(given)
      }),
    )
  })
  it('decodes again: a timer', () => {
    fc.assert(
      fc.property(timer(), (given) => {
        expect(timerOfKey(timerKey(given))).toEqual(given)
      }),
    )
  })
  it('decodes again: the job of a key', () => {
    fc.assert(
      fc.property(jobId(), number(), (id, runNo) => {
        for (const key of [definitionKey(id), stateKey(id), runKey(id, runNo), snapshotKey(id, runNo), retainedDefinitionKey(id)])
          expect(jobIdOfKey(key)).toBe(id)
      }),
    )
  })
  it('decodes again: a definition with its offset', () => {
    const stored = fc.record({
      offset: number(),
      appendedAt: number(),
      bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    })
    fc.assert(
      fc.property(stored, (given) => {
        expect(storedDefinition(definitionValue(given))).toEqual(given)
      }),
    )
  })
  it('tells a kept definition from the snapshot of a run', () => {
    fc.assert(
      fc.property(jobId(), number(), (id, runNo) => {
        expect(isRetainedDefinition(snapshotKey(id, runNo))).toBe(runNo === 0)
      }),
    )
    expect(isRetainedDefinition(stateKey('a'))).toBe(false)
  })
})

describe('the order of keys', () => {
  const byBytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right))
  it('of timers is that of due time, kind, job and run', () => {
    const inOrder = (left: Timer, right: Timer): number =>
      left.dueAt - right.dueAt || left.kind - right.kind || byBytes(left.jobId, right.jobId) || left.runNo - right.runNo
    fc.assert(
      fc.property(fc.array(timer(), { maxLength: 30 }), (timers) => {
        const keys = timers.map(timerKey).sort(Buffer.compare)
        expect(keys.map(timerOfKey)).toEqual(timers.toSorted(inOrder))
      }),
    )
  })
  it('of runs that wait for one key is that of priority, due time, job and run, and no other key is among them', () => {
    const inOrder = (left: Waiter, right: Waiter): number =>
      left.rank - right.rank || left.dueAt - right.dueAt || byBytes(left.jobId, right.jobId) || left.runNo - right.runNo
    fc.assert(
      fc.property(jobId(), fc.array(waiter(), { maxLength: 30 }), (key, waiters) => {
        const all = waiters.map((each, index) => (index % 2 === 0 ? { ...each, key } : each))
        const { from, to } = waitersRange(key)
        const keys = all.map(waiterKey).sort(Buffer.compare)
        const inside = keys.filter((each) => Buffer.compare(each, from) >= 0 && Buffer.compare(each, to) < 0)
        expect(inside.map(waiterOfKey)).toEqual(all.filter((each) => each.key === key).sort(inOrder))
      }),
    )
  })
  it('puts the bound of an instant before all its timers and after all earlier ones', () => {
    fc.assert(
      fc.property(timer(), number(), (given, at) => {
        expect(Math.sign(Buffer.compare(timerKey(given), timerBound(at)))).toBe(given.dueAt >= at ? 1 : -1)
      }),
    )
  })
  it('keeps each kind of key in a range of its own', () => {
    const found = indexRange(indexKind.tag, '￿').from
    const waiter = { key: '￿', rank: 2, dueAt: 2 ** 52, jobId: 'a', runNo: 1 }
    const keys = [
      ...[metaKey('a'), definitionKey('￿'), stateKey('a'), runKey('a', 9), snapshotKey('a', 2 ** 52), timerBound(2 ** 52)],
      ...[slotsKey('￿'), waiterKey(waiter), startsKey('a'), followUpsKey('a', 2 ** 52), found],
    ]
    for (const first of Object.values(prefix)) {
      const { from, to } = rangeOf(first)
      const inside = keys.filter((key) => Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) < 0)
      expect(inside.map((key) => key[0])).toEqual([first])
    }
  })
  it('keeps keys of different things different', () => {
    const thing = fc.record({ kind: fc.constantFrom('D', 'S', 'R', 'P', 'T'), id: jobId(), runNo: fc.nat(9), dueAt: fc.nat(5) })
    const keyOf = ({ kind, id, runNo, dueAt }: { kind: string; id: string; runNo: number; dueAt: number }): Buffer =>
      kind === 'D'
        ? definitionKey(id)
        : kind === 'S'
          ? stateKey(id)
          : kind === 'R'
            ? runKey(id, runNo)
            : kind === 'P'
              ? snapshotKey(id, runNo)
              : timerKey({ dueAt, kind: timerKind.lease, jobId: id, runNo })
    const nameOf = ({ kind, id, runNo, dueAt }: { kind: string; id: string; runNo: number; dueAt: number }): string =>
      JSON.stringify([kind, id, 'RPT'.includes(kind) ? runNo : 0, kind === 'T' ? dueAt : 0])
    fc.assert(
      fc.property(fc.uniqueArray(thing, { selector: nameOf, maxLength: 20 }), (things) => {
        expect(new Set(things.map((each) => hex(keyOf(each)))).size).toBe(things.length)
      }),
    )
  })
})
