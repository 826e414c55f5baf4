/** Ports: what the parts need of the log, the store, the owners and the auditors. Interfaces only. src/log implements those of the log and the store. */

export type * from './log.ts'
export type * from './operations.ts'
export type * from './owner-queries.ts'
export type * from './owner-views.ts'
export type * from './roles.ts'
export type * from './roles.ts'
export type * from './roles.ts'
export type * from './store.ts'
