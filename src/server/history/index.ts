/** The role history: keeps ended runs in a database, and answers questions about them. */
export { History } from './history.ts'
export { memoryHistory } from './memory-history.ts'
