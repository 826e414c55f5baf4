/** Whether somebody still waits for an answer: what nobody will read need not be calculated. */
import type { FastifyReply } from 'fastify'
import { DuelogError } from '../errors.ts'

/** Aborted when the connection closes before the answer is complete. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new DuelogError('bad-request', 'Whoever asked has closed the connection.'))
  })
  return gone.signal
}
