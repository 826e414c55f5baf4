/** Times in queries and bodies. */
import { notAllowed, parseIsoTime, timeLimit } from '../../../streams/text/index.ts'
import { RequestError } from './problem.ts'

const timeMax = 8_640_000_000_000_000

/** Epoch ms of ISO 8601 with an offset, or of epoch ms as a number or digits. Throws `bad-request`. */
export function timeOf(field: string, given: string | number): number {
  const digits = typeof given === 'number' || /^\d{1,16}$/.test(given) ? Number(given) : undefined
  const ms = digits ?? parseIsoTime(String(given))
  if (ms !== undefined && Number.isInteger(ms) && ms >= 0 && ms <= timeMax) return ms
  throw new RequestError('bad-request', [notAllowed(field, given, timeLimit)])
}
