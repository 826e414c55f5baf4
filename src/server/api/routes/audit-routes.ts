/** The audit trail, page by page. */
import type { FastifyInstance } from 'fastify'
import { isoTime } from '../../../../streams/text/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { AuditFilter, AuditPlace } from '../audit-trail/index.ts'
import type { ApiContext } from '../context/index.ts'
import { timeOf } from '../http/index.ts'
import { ReadConsistency } from '../owners/index.ts'
import { auditSchema } from '../schemas/index.ts'

interface AuditQuery {
  Querystring: Omit<AuditFilter, 'from' | 'to'> & { from?: string; to?: string; limit: number; cursor?: string }
}

export function auditRoutes(instance: FastifyInstance, { trail, owners, writes }: ApiContext): void {
  /** None while nobody knows: the rest of the trail is there without owners. */
  async function recentCommandsOf(jobId: string): Promise<readonly number[]> {
    try {
      const job = await writes.current(jobId, new ReadConsistency(owners, true))
      return job?.recentCommands ?? []
    } catch (error) {
      if (error instanceof DuelogError) return []
      throw error
    }
  }

  instance.get<AuditQuery>('/v1/audit', { config: { role: 'operator' }, schema: auditSchema }, async (request) => {
    const { limit, cursor, from, to, ...names } = request.query
    const { jobId } = names
    const filter = {
      ...names,
      ...(jobId !== undefined && { recentCommands: await recentCommandsOf(jobId) }),
      ...{ from: from === undefined ? undefined : timeOf('from', from), to: to === undefined ? undefined : timeOf('to', to) },
    }
    const { records, more } = await trail.page(filter, limit, placeOf(cursor))
    const shown = records.map(({ partition: _, offset: __, ...record }) => ({ ...record, at: isoTime(record.at) }))
    return { records: shown, cursor: more ? cursorOf(records.at(-1)) : null }
  })
}

function cursorOf(last: AuditPlace | undefined): string | null {
  return last === undefined ? null : Buffer.from(`${last.at}.${last.partition}.${last.offset}`).toString('base64url')
}

function placeOf(cursor: string | undefined): AuditPlace | undefined {
  if (cursor === undefined) return undefined
  const [, at, partition, offset] = /^(\d{1,16})\.(\d{1,9})\.(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (at === undefined || partition === undefined || offset === undefined)
    throw new DuelogError('bad-request', 'The cursor was not made by this API; leave it out to start from the newest record.')
  return { at: Number(at), partition: Number(partition), offset: Number(offset) }
}
