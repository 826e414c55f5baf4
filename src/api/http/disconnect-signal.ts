/** Signals that the caller has disconnected: an answer that nobody reads need not be computed. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DuelogError } from '../../errors/index.ts'
import type { Asker } from '../../ports/index.ts'
import { callerGone } from './problem.ts'

/** Aborted when the connection closes before the answer is complete. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnected = new AbortController()
  const onClose = (): void => {
    if (!raw.writableFinished) disconnected.abort(new DuelogError('bad-request', callerGone))
  }
  if (raw.closed) onClose()
  else raw.once('close', onClose)
  return disconnected.signal
}

/** The caller, and the signal of its disconnect. */
export const askerOf = ({ actor, ip }: FastifyRequest, reply: FastifyReply): Asker => ({
  caller: actor ?? ip,
  signal: disconnectSignal(reply),
})

/**
 * Runs `make` with a signal for its requests to owners. The signal is aborted when `make` settles or the caller has disconnected.
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
