/** The pauses of pools and workers: written to their topic, and read from it by every process that acts on them. */
export { PauseBook, type PauseBookOptions } from './pause-book.ts'
