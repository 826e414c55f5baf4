/** Signs a request as https://www.standardwebhooks.com says, so that any of its libraries can check where it came from. */
import { createHmac } from 'node:crypto'

/** Bytes of a key such as `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`. */
export const signingKeyOf = (text: string): Buffer => Buffer.from(text.replace(/^whsec_/, ''), 'base64')

/** `id` is the same for each attempt of a run and has no full stop, which parts what is signed. */
export function signed(id: string, body: Buffer, key: Buffer, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
