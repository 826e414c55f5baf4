/** The databases in which the history of ended runs is kept. */
export { DatabaseStore, type HistoryStore } from './history-store.ts'
export { type RunRow, rowOf } from './rows.ts'
export { inMemory, openSqlite } from './sqlite.ts'
export { threadStore } from './thread-store.ts'
