/** The files of the dashboard. All its pages are the same document under different URLs; it loads its data from the API. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { ApiContext } from '../context/index.ts'
import { allowedMethods, answerNotFound, type DashboardFile } from '../http/index.ts'

/** Paths of pages, as in src/clients/dashboard/model/routes.ts. */
export const dashboardPages = [
  '/',
  '/jobs',
  '/jobs/*',
  '/runs',
  '/history',
  '/handlers',
  '/dead-letters',
  '/pools',
  '/workers',
  '/calendar',
  '/proof',
  '/audit',
  '/settings',
] as const

/** Paths that are never pages. */
const ofPrograms = /^\/(v1|internal|assets|docs|metrics|livez|readyz|openapi\.json)(\/|$)/

/** Only scripts and styles of our own: nothing that a job's payload may contain, and nothing from other origins. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Duelog</title>
<p>The dashboard is not built: run <code>npm run build:dashboard</code> in the clone of Duelog, and start it again.</p></html>
`

export function dashboardRoutes(instance: FastifyInstance, { dashboard = new Map(), routes }: ApiContext): void {
  const schema = { hide: true, querystring: { type: 'object' } } as const
  const document = dashboard.get('index.html')

  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    void headers(reply).header('cache-control', 'no-cache')
    if (document === undefined) return reply.code(503).type('text/html; charset=utf-8').send(notBuilt)
    return send(document, request, reply)
  }
  for (const path of dashboardPages) instance.get(path, { schema }, page)

  // An unknown path gets the document too; its router says that there is no such page.
  instance.setNotFoundHandler(async (request, reply) => {
    const allowed = allowedMethods(routes, request.url.split('?', 1)[0] ?? '')
    return answerAsPage({ dashboard }, request, reply) ?? answerNotFound(request, reply, allowed)
  })

  // Names of assets contain a hash of their content, so a fetched asset never changes.
  instance.get<{ Params: { '*': string } }>('/assets/*', { schema }, async (request, reply) => {
    const file = dashboard.get(`assets/${request.params['*']}`)
    if (file === undefined) throw new DuelogError('not-found', 'There is no such file of the dashboard; load the page again.')
    void headers(reply).header('cache-control', 'public, max-age=31536000, immutable')
    return send(file, request, reply)
  })
}

/** The page for a person who has followed a wrong address; undefined if a program asks, or the page is not built. */
export function answerAsPage(
  { dashboard }: Pick<ApiContext, 'dashboard'>,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | undefined {
  const document = dashboard?.get('index.html')
  const path = request.url.split('?', 1)[0] ?? ''
  const forPeople = request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? '')
  if (document === undefined || !forPeople || ofPrograms.test(path)) return undefined
  void headers(reply).header('cache-control', 'no-cache').code(404)
  return send(document, request, reply)
}

function headers(reply: FastifyReply): FastifyReply {
  return reply
    .header('content-security-policy', policy)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('vary', 'accept-encoding')
}

function send({ type, plain, gzip, etag }: DashboardFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  void reply.header('etag', etag)
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  void reply.type(type)
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(plain)
  return reply.header('content-encoding', 'gzip').send(gzip)
}
