/** The description that the API gives of itself, for the pages and types that are made from it. */
import { createApi } from '../../src/api/api.ts'
import type { OpenApiDocument } from '../../src/api/openapi/document.ts'

/** The routes are registered and never called, so they need no options. */
const { instance } = createApi({} as Parameters<typeof createApi>[0])
export const openApiDocument: OpenApiDocument = (await instance.inject('/openapi.json')).json()
await instance.close()
