import { describe, expect, it } from 'vitest'
import { eventsOf, type ServerEvent } from '../../src/dashboard/model/event-stream.ts'

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
