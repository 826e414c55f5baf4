/**
 * Queries and changes that other API processes ask of the scheduler of this process. The front of an engine passes them on to it. An engine
 * passes none on, so none runs in a loop.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DuelogError } from '../../errors/index.ts'
import type { Asker } from '../../ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import { disconnectSignal } from '../http/index.ts'
import { callerHeader, encodeInternalJson, type Owner, ownerCalls, partitionsPath, standbyCalls } from '../owners/index.ts'
import { closed } from '../schemas/index.ts'

// Definitions are complete here, with everything that viewers may not see.
const config = { role: 'operator', internal: true } as const

const answer = (reply: FastifyReply, value: unknown): FastifyReply =>
  reply.type('application/json').send(encodeInternalJson(value))

/** The caller of the other process; an earlier version does not send it. */
function askerOf({ headers }: FastifyRequest, reply: FastifyReply): Asker {
  const caller = headers[callerHeader]
  return { caller: typeof caller === 'string' ? caller : '', signal: disconnectSignal(reply) }
}

export function internalRoutes(instance: FastifyInstance, { local, engine }: ApiContext): void {
  const scheduler = (): Owner => {
    const found = local ?? engine
    if (found !== undefined) return found
    throw new DuelogError('not-ready', 'This process has no scheduler role, so it owns no partition.')
  }
  instance.get(partitionsPath, { config, schema: { hide: true, querystring: closed({}) } }, async (_request, reply) =>
    answer(reply, { partitions: local?.partitions() ?? (await engine?.partitions()) ?? [] }),
  )
  const route = (
    { path, audit, schema, field }: { path: string; audit?: 'CHANGE_JOBS'; schema: object; field?: string },
    answerOf: (request: FastifyRequest, asker: () => Asker) => Promise<unknown>,
  ): void => {
    const url = `${partitionsPath}${path}`
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const found = await answerOf(request, () => askerOf(request, reply))
      return answer(reply, field === undefined ? found : { [field]: found })
    }
    if (audit === undefined) instance.get(url, { config, schema }, handler)
    else instance.post(url, { config: { ...config, audit }, schema }, handler)
  }
  // The schemas of the table have checked what the answers take.
  const givenTo = ({ params, query }: FastifyRequest) => ({ ...(params as object), ...(query as object) }) as never
  for (const call of Object.values(standbyCalls))
    route(call, (request, asker) => {
      const isStale = (request.query as { stale?: boolean }).stale === true
      return call.answer(isStale ? scheduler().copies : scheduler(), givenTo(request), asker)
    })
  for (const call of Object.values(ownerCalls)) route(call, (request, asker) => call.answer(scheduler(), givenTo(request), asker))
}
