/** What the API is given, and what its routes share. */
export type { ApiContext } from './context.ts'
export type { ApiOptions, Health } from './options.ts'
