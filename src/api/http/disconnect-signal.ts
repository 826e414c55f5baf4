/** Whether somebody still waits for an answer: what nobody will read need not be calculated. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DuelogError } from '../../errors/index.ts'
import type { Asker } from '../../ports/index.ts'

/** Aborted when the connection closes before the answer is complete. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  const closed = (): void => {
    if (!raw.writableFinished) gone.abort(new DuelogError('bad-request', 'Whoever asked has closed the connection.'))
  }
  if (raw.closed) closed()
  else raw.once('close', closed)
  return gone.signal
}

/** Who asks, and whether the answer is wanted still. */
export const askerOf = ({ actor, ip }: FastifyRequest, reply: FastifyReply): Asker => ({
  caller: actor ?? ip,
  signal: disconnectSignal(reply),
})

/** What `make` asks of several owners is wanted until the answer is complete, or one of them has failed it, or the caller has gone. */
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
