/** How parts stop, with and without brokers. Time is moved by hand. */
import { expect, test } from 'vitest'
import { awayMsMax, endParts, noticeMs } from '../../src/log/cluster/shutdown.ts'
import { ManualClock, VirtualTime } from '../tools/manual-clock.ts'

function ending() {
  const time = new VirtualTime()
  let heard: ((isAway: boolean) => void) | undefined
  const said: unknown[] = []
  const began: string[] = []
  let givenUp = 0
  let hears = false
  const log = {
    onAway(listener: (isAway: boolean) => void) {
      heard = listener
      hears = true
      return () => {
        hears = false
      }
    },
  }
  const options = {
    log,
    clock: new ManualClock(time),
    logger: { warn: (...args: unknown[]) => void said.push(args.at(-1)) } as never,
    onGivenUp: () => void givenUp++,
  }
  const part = (name: string, ended: Promise<unknown>) => () => {
    began.push(name)
    return ended
  }
  return {
    ...{ time, said, began, part, options },
    away: (isAway: boolean) => heard?.(isAway),
    get givenUp() {
      return givenUp
    },
    get hears() {
      return hears
    },
  }
}

const never = new Promise<void>(() => {})

test('parts stop one after the other, the last that began first', async () => {
  const { began, part, options, said, time } = ending()
  const second = Promise.withResolvers<void>()
  const ended = endParts([part('first', Promise.resolve()), part('second', second.promise)], options)
  await time.advance(60_000)
  expect(began).toEqual(['second'])
  second.resolve()
  await ended
  expect(began).toEqual(['second', 'first'])
  expect(said).toEqual([])
})

test('while no broker answers all parts stop at once, and one limit ends the wait, which one line says', async () => {
  const ends = ending()
  const ended = endParts([ends.part('first', never), ends.part('second', never)], ends.options)
  ends.away(true)
  await ends.time.advance(awayMsMax - 1)
  expect(ends.began).toEqual(['second', 'first'])
  expect(ends.givenUp).toBe(0)
  await ends.time.advance(1)
  await ended
  expect(ends.givenUp).toBe(1)
  expect(ends.hears).toBe(false)
  expect(ends.said).toEqual([expect.stringMatching(/^No broker answers: .* 5 s at most/)])
})

test('one of several brokers that is down, as in a rolling restart, neither takes the order from the stop nor is said to be all of them', async () => {
  const { began, part, options, said, away, time } = ending()
  const second = Promise.withResolvers<void>()
  const ended = endParts([part('first', Promise.resolve()), part('second', second.promise)], options)
  for (let times = 0; times < 30; times++) {
    away(true)
    await time.advance(noticeMs - 1)
    away(false)
    await time.advance(1)
  }
  expect(began).toEqual(['second'])
  expect(said).toEqual([])
  second.resolve()
  await ended
  expect(began).toEqual(['second', 'first'])
  expect(time.armed).toBe(0)
})

test('a broker that answers again ends the limit, and nothing is given up', async () => {
  const ends = ending()
  const first = Promise.withResolvers<void>()
  const ended = endParts([ends.part('first', first.promise)], ends.options)
  ends.away(true)
  await ends.time.advance(awayMsMax - 1)
  ends.away(false)
  await ends.time.advance(60_000)
  expect(ends.givenUp).toBe(0)
  first.resolve()
  await ended
  expect(ends.time.armed).toBe(0)
})
