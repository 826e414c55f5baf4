/** Signals that the caller has gone: an answer that will not be read need not be computed. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DuelogError } from '../../errors/index.ts'
import type { Asker } from '../../ports/index.ts'

/** Aborted when the connection closes before the answer is complete. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  const closed = (): void => {
    if (!raw.writableFinished) gone.abort(new DuelogError('bad-request', 'The caller has closed the connection.'))
  }
  if (raw.closed) closed()
  else raw.once('close', closed)
  return gone.signal
}

/** The caller, and the signal of its disconnect. */
export const askerOf = ({ actor, ip }: FastifyRequest, reply: FastifyReply): Asker => ({
  caller: actor ?? ip,
  signal: disconnectSignal(reply),
})

/**
 * The requests that `make` sends to several owners are wanted until the answer is complete, one of them has failed it, or the
 * caller has gone.
 */
export async function whileAsked<Answer>(
  request: FastifyRequest,
  reply: FastifyReply,
  make: (asker: Asker) => Promise<Answer>,
): Promise<Answer> {
  const ended = new AbortController()
  try {
    const { caller, signal } = askerOf(request, reply)
    return await make({ caller, signal: AbortSignal.any([...(signal ? [signal] : []), ended.signal]) })
  } finally {
    ended.abort()
  }
}
