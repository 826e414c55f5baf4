/** The series of the last hour or the last 24 h. */
import type { FastifyInstance } from 'fastify'
import { isoTime } from '../../../streams/text/index.ts'
import type { ApiContext } from '../context/index.ts'
import { seriesSchema } from '../schemas/index.ts'
import type { SeriesRange } from '../series/index.ts'

export function seriesRoutes(instance: FastifyInstance, { series, clock }: ApiContext): void {
  instance.get<{ Querystring: { range: SeriesRange } }>(
    '/v1/series',
    { config: { role: 'viewer' }, schema: seriesSchema },
    ({ query }) => {
      const { from, marks, ...rest } = series.keeper.view(query.range, clock.nowMs())
      return {
        ...rest,
        from: from === null ? null : isoTime(from),
        marks: marks.map((mark) => ({ ...mark, at: isoTime(mark.at) })),
      }
    },
  )
}
