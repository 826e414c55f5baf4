/** Previews of schedules. Nothing is written. */
import type { FastifyInstance } from 'fastify'
import { definitionFromJson, noOccurrenceProblem } from '../../../streams/definitions/index.ts'
import { dstNote, nextFire } from '../../../streams/schedules/index.ts'
import { isoTime } from '../../../streams/text/index.ts'
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
      return { fires: await computeQueue.of(askerOf(request, reply)).runAll(firesOf(schedule, from, count)) }
    },
  )
}

interface Fire {
  at: string | number
  atMs: number
  note?: string
}

function* firesOf(schedule: Record<string, unknown>, from: number, count: number): Generator<void, Fire[]> {
  const read = definitionFromJson({ schedule, target: { handler: 'preview' } })
  if (!read.ok) throw new RequestError('bad-definition', read.problems)
  const fires: Fire[] = []
  // Delays and intervals count from the start of the preview, as if the broker had received the job then.
  let before = from
  let at = nextFire(read.definition, from, from)
  const problem = at === null ? noOccurrenceProblem(read.definition, from) : undefined
  if (problem !== undefined) throw new RequestError('bad-definition', [problem])
  while (at !== null && fires.length < count) {
    const note = dstNote(read.definition, from, before, at)
    fires.push({ at: isoTime(at), atMs: at, ...(note === undefined ? {} : { note }) })
    before = at
    yield
    at = nextFire(read.definition, from, at)
  }
  return fires
}
