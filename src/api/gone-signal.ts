/** Whether somebody still waits for an answer: what nobody will read need not be calculated. */
import type { FastifyReply } from 'fastify'
import { DuelogError } from '../errors.ts'

/** Aborted when the connection closes before the answer is complete. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  const closed = (): void => {
    if (!raw.writableFinished) gone.abort(new DuelogError('bad-request', 'Whoever asked has closed the connection.'))
  }
  if (raw.closed) closed()
  else raw.once('close', closed)
  return gone.signal
}
