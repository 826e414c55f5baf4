/** Writers: idempotent and transactional. */
export { CheckedTopics, type TargetTopicsOptions } from './target-topics.ts'
export { FencedWriter } from './transactional-writer.ts'
export { IdempotentWriter } from './writer.ts'
