/** The databases in which the history of ended runs is kept. */
export type { HistoryStore } from './history-store.ts'
export { type RunRow, rowOf } from './rows.ts'
export { ThreadStore } from './thread-store.ts'
