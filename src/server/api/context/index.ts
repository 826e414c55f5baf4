/** The options of the API, and what its routes share. */
export type { ApiContext, ApiOptions } from './context.ts'
