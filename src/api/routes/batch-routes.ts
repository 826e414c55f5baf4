/** Many jobs in one request. The body is not parsed by fastify: it is read line by line (jobs/batch.ts). */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { DuelogError } from '../../errors/index.ts'
import type { Logger } from '../../logging/index.ts'
import { recordOutcome } from '../audit-trail/index.ts'
import type { ApiContext } from '../context/index.ts'
import { askerOf, type JsonReader } from '../http/index.ts'
import { type BatchCounts, batchAnswer } from '../jobs/index.ts'
import { batchSchema } from '../schemas/index.ts'

export const ndjsonType = 'application/x-ndjson'

/** Register it in its own scope, because this scope accepts no other media type. */
export function batchRoutes(instance: FastifyInstance, { writes, audit, reading }: ApiContext, read: JsonReader): void {
  instance.removeAllContentTypeParsers()
  instance.addContentTypeParser(ndjsonType, (_request, body, done) => done(null, body))

  instance.post<{ Body: IncomingMessage | undefined; Querystring: { wait?: 'applied' } }>(
    '/v1/jobs/batch',
    { config: { role: 'operator', audit: 'BATCH', streams: true }, schema: batchSchema },
    async (request, reply) => {
      const encoding = request.headers['content-encoding']
      if (encoding !== undefined && encoding !== 'identity') {
        throw new DuelogError(
          'unsupported-media-type',
          `The content encoding ${encoding} is not accepted; send the lines uncompressed.`,
        )
      }
      if (request.body === undefined) {
        throw new DuelogError('unsupported-media-type', `Send the definitions as the body, with Content-Type: ${ndjsonType}.`)
      }
      const logger: Pick<Logger, 'error'> = request.log
      const onFault = (error: unknown): void =>
        logger.error({ event: 'batch-lines-not-written', err: error }, 'Lines of a batch were not written.')
      const onEnd = (counts: BatchCounts): Promise<void> => {
        request.audited = counts
        return recordOutcome(audit, request, reply, 'DONE')
      }
      void reply.type(ndjsonType)
      const { caller } = askerOf(request, reply)
      const wait = request.query.wait === 'applied'
      return reply.send(batchAnswer(request.body, { writes, read, reading, caller, wait, onFault, onEnd }))
    },
  )
}
