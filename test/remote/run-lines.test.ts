/** How a client asks for the lines of a run: at once while there are more, after a second while it waits for them. */
import { expect, it } from 'vitest'
import { followPauseMs, runLinePages } from '../../src/clients/remote/run-lines.ts'
import type { RunLogPage } from '../../src/ground/answers/index.ts'
import { ManualClock, rest, VirtualTime } from '../tools/manual-clock.ts'

type Page = Pick<RunLogPage, 'cursor' | 'caughtUp'>

function reading(pages: Page[], follow: boolean) {
  const time = new VirtualTime()
  const clock = new ManualClock(time)
  const closing = new AbortController()
  const asked: { cursor: string | undefined; atMs: number }[] = []
  const beganMs = clock.nowMs()
  const read = async (cursor: string | undefined): Promise<RunLogPage> => {
    asked.push({ cursor, atMs: clock.nowMs() - beganMs })
    return { lines: [], unreadable: 0, ...(pages.shift() as Page) }
  }
  const cursors: (string | null)[] = []
  const done = (async () => {
    for await (const page of runLinePages(read, { follow, clock, signal: closing.signal })) cursors.push(page.cursor)
  })()
  return { time, clock, closing, asked, cursors, done }
}

it('asks at once with the cursor until all that has arrived is read', async () => {
  const { asked, cursors, done } = reading(
    [
      { cursor: 'a', caughtUp: false },
      { cursor: 'b', caughtUp: false },
      { cursor: 'c', caughtUp: true },
    ],
    false,
  )
  await done
  expect(asked).toEqual([undefined, 'a', 'b'].map((cursor) => ({ cursor, atMs: 0 })))
  expect(cursors).toEqual(['a', 'b', 'c'])
})

it('follows until the cursor is null, with a pause whenever nothing more is there', async () => {
  const { asked, clock, done } = reading(
    [
      { cursor: 'a', caughtUp: true },
      { cursor: 'b', caughtUp: false },
      { cursor: 'c', caughtUp: true },
      { cursor: null, caughtUp: true },
    ],
    true,
  )
  await rest()
  await clock.advance(3 * followPauseMs)
  await done
  expect(asked.map(({ cursor, atMs }) => [cursor, atMs])).toEqual([
    [undefined, 0],
    ['a', followPauseMs],
    ['b', followPauseMs],
    ['c', 2 * followPauseMs],
  ])
})

it('ends a pause with the reason of its signal, and leaves no timer behind', async () => {
  const { closing, time, done } = reading([{ cursor: 'a', caughtUp: true }], true)
  await rest()
  closing.abort(new Error('closed'))
  await expect(done).rejects.toThrow('closed')
  expect(time.armed).toBe(0)
})
