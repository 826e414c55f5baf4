/** Pure parts of the talk with the server: its events, and how long to wait between requests. */

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

/** The pause is this many times the duration of the request: a slow answer is not requested again soon. */
const factor = 10
/** A machine that sleeps during a request makes it last for hours. The page then asks again within this time. */
const slowMsMax = 60_000
/** A long answer is requested less often: this many characters a millisecond on average, but every 15 s at least. */
const charsPerMs = 20
const longMsMax = 15_000

/** By what the request has cost: how long it took, and the characters that were read meanwhile. */
export const pauseAfterMs = (tookMs: number, chars: number): number =>
  Math.max(Math.min(slowMsMax, tookMs * factor), Math.min(longMsMax, chars / charsPerMs))
