/** Who looks has few places in a process: callers have them in turn, and each waits for so long at most, and only while somebody wants it. */
import { expect, it } from 'vitest'
import { FairSlots, slotWaitMs } from '../../src/ground/concurrency/semaphore.ts'
import { ManualClock } from '../tools/manual-clock.ts'

/** Places that are taken, and what had one since, in order. */
function taken({ waitingMax }: { waitingMax?: number } = {}) {
  const clock = new ManualClock()
  const places = new FairSlots({ what: 'lists', places: 1, clock, ...(waitingMax !== undefined && { waitingMax }) })
  const held = Promise.withResolvers<void>()
  const begun: string[] = []
  const holding = places.run(() => held.promise)
  const look = (caller: string, name: string, signal?: AbortSignal): Promise<unknown> =>
    places.run(async () => begun.push(name), { caller, signal }).catch((error: unknown) => error)
  const free = async (): Promise<void> => {
    held.resolve()
    await holding
  }
  return { clock, places, begun, look, free }
}

it('callers have their turn one after another, however much one of them asks for', async () => {
  const { begun, look, free } = taken()
  const looks = ['a1', 'a2', 'a3', 'a4'].map((name) => look('a', name))
  looks.push(look('b', 'b1'), look('c', 'c1'), look('b', 'b2'))
  await free()
  await Promise.all(looks)
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
})

it('who has waited for half a minute is told to ask again later, and leaves nothing behind', async () => {
  const { clock, places, begun, look, free } = taken()
  const one = look('a', 'one')
  await clock.advance(slotWaitMs - 1)
  const two = look('b', 'two')
  expect(places.waiting).toBe(2)
  await clock.advance(1)
  expect(await one).toMatchObject({ code: 'overloaded' })
  expect(places.waiting).toBe(1)
  await free()
  await two
  expect(begun).toEqual(['two'])
  expect(clock.armed).toBe(0)
  await look('a', 'three')
  expect(begun).toEqual(['two', 'three'])
})

it('who has gone waits no longer, and who had gone before does not begin', async () => {
  const { clock, places, begun, look, free } = taken()
  const gone = new AbortController()
  const one = look('a', 'one', gone.signal)
  const two = look('a', 'two')
  const reason = new Error('gone')
  gone.abort(reason)
  expect(await one).toBe(reason)
  expect(places.waiting).toBe(1)
  expect(await look('b', 'three', gone.signal)).toBe(reason)
  await free()
  await two
  expect(await look('b', 'four', gone.signal)).toBe(reason)
  expect(begun).toEqual(['two'])
  expect(clock.armed).toBe(0)
})

it('where too many wait, one of the caller that has most of them gives way to another caller', async () => {
  const { places, begun, look, free } = taken({ waitingMax: 4 })
  const looks = ['a1', 'a2', 'a3', 'a4'].map((name) => look('a', name))
  expect(await look('a', 'a5')).toMatchObject({ code: 'overloaded' })
  const others = [look('b', 'b1'), look('b', 'b2')]
  expect(await looks[3]).toMatchObject({ code: 'overloaded' })
  expect(await looks[2]).toMatchObject({ code: 'overloaded' })
  expect(await look('b', 'b3')).toMatchObject({ code: 'overloaded' })
  expect(places.waiting).toBe(4)
  await free()
  await Promise.all([...looks, ...others])
  expect(begun).toEqual(['a1', 'b1', 'a2', 'b2'])
})
