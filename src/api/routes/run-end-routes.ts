/** The wait for the end of a run. */
import type { FastifyInstance } from 'fastify'
import { partitionOf } from '../../../streams/topics/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { AwaitedRun } from '../../ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import { checkedId } from '../http/index.ts'
import { awaitRunSchema } from '../schemas/index.ts'

interface AwaitQuery {
  runNo?: number
  commandId?: string
  etag?: string
  timeoutMs: number
}

/** Throws `bad-request` unless exactly one of them is given, and for an ETag of another partition, which is that of another job. */
function awaitedOf({ runNo, commandId, etag }: Omit<AwaitQuery, 'timeoutMs'>, partition: number): AwaitedRun {
  const given = [runNo, commandId, etag].filter((value) => value !== undefined)
  if (given.length !== 1) throw new DuelogError('bad-request', 'Give exactly one of runNo, commandId and etag.')
  if (runNo !== undefined) return { runNo }
  if (commandId !== undefined) return { commandId }
  const [, place, offset] = /^"?(\d+)\.(\d+)"?$/.exec(etag ?? '') ?? []
  if (Number(place) === partition) return { specOffset: Number(offset) }
  throw new DuelogError('bad-request', `The ETag ${etag} is not of this job: its partition is ${partition}.`)
}

export function runEndRoutes(instance: FastifyInstance, { partitions, runEnds }: ApiContext): void {
  instance.get<{ Params: { id: string }; Querystring: AwaitQuery }>(
    '/v1/jobs/:id/result',
    { config: { role: 'viewer' }, schema: awaitRunSchema },
    async (request, reply) => {
      const id = checkedId(request.params.id)
      const { timeoutMs, ...awaited } = request.query
      const partition = partitionOf(id, partitions)
      return runEnds.wait(request, reply, partition, id, awaitedOf(awaited, partition), timeoutMs)
    },
  )
}
