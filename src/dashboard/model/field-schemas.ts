/** Loads the schemas of the fields of a definition, once for a page. */
import type { FieldSchemas } from './definition-schema.ts'
import { ask } from './request.ts'

let loaded: Promise<FieldSchemas> | undefined

/** Without it an editor shows all fields and completes none. */
export function fieldSchemas(): Promise<FieldSchemas> {
  loaded ??= ask<{ components: { schemas: FieldSchemas } }>('/openapi.json').then(({ components }) => components.schemas)
  loaded.catch(() => {
    loaded = undefined
  })
  return loaded
}
