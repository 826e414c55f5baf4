/** Whether somebody still waits for an answer: what nobody will read need not be calculated. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DuelogError } from '../errors.ts'
import type { Asker } from '../ports.ts'

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

/** What `make` asks of several owners is wanted until the answer is complete, or one of them has failed it, or the caller has gone. */
export async function whileAsked<Answer>(
  { actor, ip }: FastifyRequest,
  reply: FastifyReply,
  make: (asker: Asker) => Promise<Answer>,
): Promise<Answer> {
  const ended = new AbortController()
  try {
    return await make({ caller: actor ?? ip, signal: AbortSignal.any([goneSignal(reply), ended.signal]) })
  } finally {
    ended.abort()
  }
}
