/** The broker and the registry that Duelog starts by itself. */
export type { Embedded } from './options.ts'
export { startEmbedded } from './start.ts'
