/** Parser of the part of text/event-stream that our server writes: `event:` and `data:` lines, with an empty line after each event. */

export interface ServerEvent {
  event: string
  data: string
}

/** Longest event, in characters. A longer one means that the other side is not our server. */
const charsMax = 4_000_000

export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      if (text.length > charsMax) throw new Error('An event is too long.')
      for (const part of parts) {
        const event = eventOf(part)
        if (event.data !== '') yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function eventOf(part: string): ServerEvent {
  const found: ServerEvent = { event: 'message', data: '' }
  for (const line of part.split('\n')) {
    if (line.startsWith('event: ')) found.event = line.slice(7)
    else if (line.startsWith('data: ')) found.data += line.slice(6)
  }
  return found
}
