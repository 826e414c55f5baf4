/** What a cooperative member claims from the loss of a partition until it has given it up. */
import { expect, test } from 'vitest'
import { RevokedPartitions } from '../../../src/log/kafka/group/reader.ts'

const place = { topic: 'runs', partition: 3 }
const other = { topic: 'runs', partition: 4 }

function watched() {
  const ends: (() => void)[] = []
  let rejoins = 0
  const revoked = new RevokedPartitions(
    () => new Promise((resolve) => ends.push(resolve)),
    () => rejoins++,
  )
  const given = async (index: number): Promise<void> => {
    ends[index]?.()
    await new Promise(setImmediate)
  }
  return { revoked, given, now: () => ({ claimed: revoked.numbers, asked: ends.length, rejoins }) }
}

test('a partition is claimed from its loss until it is given up', async () => {
  const { revoked, given, now } = watched()
  revoked.joined([place, other], [{ ...other }], true)
  expect([now(), revoked.has({ ...place }), revoked.has(other)]).toEqual([{ claimed: [3], asked: 1, rejoins: 0 }, true, false])
  // Another join in between asks nothing again.
  revoked.joined([other], [other], true)
  expect(now()).toEqual({ claimed: [3], asked: 1, rejoins: 0 })
  await given(0)
  expect(now()).toEqual({ claimed: [], asked: 1, rejoins: 1 })
})

test('a partition that comes back is claimed no longer; if it is lost again, the end of the first loss is not that of the second', async () => {
  const { revoked, given, now } = watched()
  revoked.joined([place], [], true)
  revoked.joined([], [{ ...place }], true)
  expect([now(), revoked.has(place)]).toEqual([{ claimed: [], asked: 1, rejoins: 0 }, false])
  revoked.joined([place], [], true)
  await given(0)
  expect(now()).toEqual({ claimed: [3], asked: 2, rejoins: 0 })
  await given(1)
  expect(now()).toEqual({ claimed: [], asked: 2, rejoins: 1 })
})

test('a member that the group had removed gives nothing up, and joins again if it claimed something', async () => {
  const { revoked, given, now } = watched()
  revoked.joined([place], [place], false)
  expect(now()).toEqual({ claimed: [], asked: 0, rejoins: 0 })
  revoked.joined([place], [], false)
  expect(now()).toEqual({ claimed: [], asked: 0, rejoins: 1 })
  revoked.joined([place], [], true)
  revoked.joined([], [], false)
  expect(now()).toEqual({ claimed: [], asked: 1, rejoins: 2 })
  await given(0)
  expect(now()).toEqual({ claimed: [], asked: 1, rejoins: 2 })
})

test('nothing is claimed when the membership has ended', async () => {
  const { revoked, given, now } = watched()
  revoked.joined([place], [], true)
  revoked.clear()
  await given(0)
  expect(now()).toEqual({ claimed: [], asked: 1, rejoins: 0 })
})
