/** Routes of the API description, as JSON and as a page. They need no token, because they contain nothing about jobs. */
import { readFile } from 'node:fs/promises'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { openApiSchema } from '../schemas/index.ts'
import { docsAssets, docsPolicy } from './docs-page.ts'
import { type OpenApiDocument, openApiDocument } from './document.ts'

/** Not in the description. */
const hidden = { hide: true } as const

/** Call it before any route is registered. */
export function openApiRoutes(instance: FastifyInstance): void {
  const routes: RouteOptions[] = []
  let document: OpenApiDocument | undefined
  instance.addHook('onRoute', (route) => void routes.push(route))
  instance.get('/openapi.json', { schema: openApiSchema }, async () => {
    document ??= openApiDocument(routes)
    return document
  })
  // The page names its files relative to /docs.
  instance.get('/docs/', { schema: hidden }, async (_request, reply) => reply.redirect('../docs', 308))
  for (const [url, { type, file, text }] of Object.entries(docsAssets)) {
    instance.get(url, { schema: hidden }, async (_request, reply) => {
      void reply.type(type).header('content-security-policy', docsPolicy).header('cache-control', 'no-cache')
      return text ?? readFile(file ?? '')
    })
  }
}
