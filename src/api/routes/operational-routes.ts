/** The routes of a process without the role api: metrics, probes, and queries of other processes to its owners. */
import type { onRequestAsyncHookHandler } from 'fastify'
import { DuelogError } from '../../errors/index.ts'

const inEveryRole: ReadonlySet<string> = new Set(['/metrics', '/livez', '/readyz'])

/** A hook that throws `not-found` for all other routes. */
export function withoutPublicApi(): onRequestAsyncHookHandler {
  return async ({ method, routeOptions: { url = '', config } }) => {
    if (inEveryRole.has(url) || config.internal === true) return
    throw new DuelogError(
      'not-found',
      `This process does not have the role api, so it serves no ${method} of jobs or runs; send the request to a process with api in DUELOG_ROLES.`,
    )
  }
}
