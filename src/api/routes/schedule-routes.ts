/** Previews of schedules. Nothing is written. */
import type { FastifyInstance } from 'fastify'
import type { ApiContext } from '../context/index.ts'
import { askerOf, RequestError, timeOf } from '../http/index.ts'
import { previewSchema } from '../schemas/index.ts'

interface Preview {
  Body: { schedule: Record<string, unknown>; from?: string | number; count: number }
}

export function scheduleRoutes(instance: FastifyInstance, { clock, calculator }: ApiContext): void {
  instance.post<Preview>(
    '/v1/schedules/preview',
    { config: { role: 'viewer' }, schema: previewSchema },
    async (request, reply) => {
      const { schedule, count } = request.body
      const from = request.body.from === undefined ? undefined : timeOf('from', request.body.from)
      const preview = await calculator.run('preview', () => [schedule, from ?? clock.nowMs(), count], askerOf(request, reply))
      if (!preview.ok) throw new RequestError('bad-definition', preview.problems)
      const { fires, warnings } = preview
      return { fires, ...(warnings.length > 0 && { warnings }) }
    },
  )
}
