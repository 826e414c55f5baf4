/** The description that the API gives of itself, for the pages and types that are made from it. */
import { pino } from 'pino'
import { createApi } from '../../src/server/api/api.ts'
import type { OpenApiDocument } from '../../src/server/api/openapi/document.ts'

/** The routes are registered and never called, so they need no other options. */
const { instance } = createApi({ logger: pino({ level: 'silent' }), ratePerSecond: 0 } as unknown as Parameters<
  typeof createApi
>[0])
export const openApiDocument: OpenApiDocument = (await instance.inject('/openapi.json')).json()
await instance.close()
