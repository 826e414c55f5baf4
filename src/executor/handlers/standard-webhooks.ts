/** Signs a request according to https://www.standardwebhooks.com, so that any of its libraries can verify the sender. */
import { createHmac } from 'node:crypto'

/** Bytes of a key such as `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`. */
export const signingKeyOf = (text: string): Buffer => Buffer.from(text.replace(/^whsec_/, ''), 'base64')

/** `id` is the same for each attempt of a run and contains no full stop, which separates the signed parts. */
export function signed(id: string, body: Buffer, key: Buffer, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
