/** Previews of schedules. Nothing is written. */
import type { FastifyInstance } from 'fastify'
import { previewOf } from '../../../streams/definitions/index.ts'
import type { ApiContext } from '../context/index.ts'
import { askerOf, RequestError, timeOf } from '../http/index.ts'
import { previewSchema } from '../schemas/index.ts'

interface Preview {
  Body: { schedule: Record<string, unknown>; from?: string | number; count: number }
}

export function scheduleRoutes(instance: FastifyInstance, { clock, computeQueue }: ApiContext): void {
  instance.post<Preview>(
    '/v1/schedules/preview',
    { config: { role: 'viewer' }, schema: previewSchema },
    async (request, reply) => {
      const { schedule, count } = request.body
      const from = request.body.from === undefined ? clock.nowMs() : timeOf('from', request.body.from)
      const preview = await computeQueue.of(askerOf(request, reply)).runAll(previewOf(schedule, from, count))
      if (!preview.ok) throw new RequestError('bad-definition', preview.problems)
      return { fires: preview.fires }
    },
  )
}
