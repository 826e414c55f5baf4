import { describe, expect, it } from 'vitest'
import { eventsOf, pauseAfterMs, type ServerEvent } from '../../src/clients/dashboard/model/wire.ts'

async function read(...chunks: (string | Uint8Array)[]): Promise<ServerEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk)
      controller.close()
    },
  })
  const found: ServerEvent[] = []
  for await (const event of eventsOf(body)) found.push(event)
  return found
}

describe('server-sent events', () => {
  it('are read however the chunks are cut', async () => {
    const bytes = new TextEncoder().encode('event: pulse\ndata: {"a":"ä"}\n\n')
    const expected = [{ event: 'pulse', data: '{"a":"ä"}' }]
    for (let cut = 0; cut <= bytes.length; cut++) expect(await read(bytes.slice(0, cut), bytes.slice(cut))).toEqual(expected)
  })

  it('are left out when they have no data or are incomplete', async () => {
    expect(await read('retry: 2000\n\n: note\n\ndata: 1\n\ndata: 2\n')).toEqual([{ event: 'message', data: '1' }])
  })
})

describe('the pause of the dashboard after a request', () => {
  it('is ten times its duration, so that a slow owner is asked rarely', () => {
    expect(pauseAfterMs(40, 0)).toBe(400)
    expect(pauseAfterMs(5_000, 0)).toBe(50_000)
  })

  it('is at most a minute, also when the machine slept for a night during the request', () => {
    expect(pauseAfterMs(8 * 3_600_000, 0)).toBe(60_000)
  })

  it('grows with the length of the answer up to 15 s', () => {
    expect(pauseAfterMs(10, 40_000)).toBe(2_000)
    expect(pauseAfterMs(10, 5_000_000)).toBe(15_000)
    expect(pauseAfterMs(3_000, 5_000_000)).toBe(30_000)
  })
})
