/** Changes of many jobs or dead runs, each as one operation that goes on in the background. */
export { createOperations, type RunningOperations } from './operations.ts'
export type { OperationsOptions } from './options.ts'
