/** JSON schemas of requests and answers, and every limit of the HTTP surface. */
export { auditSchema } from './audit.ts'
export {
  backfillSchema,
  cancelBackfillSchema,
  cancelJobSchema,
  cancelRunSchema,
  countBackfillSchema,
  pauseSchema,
  redriveRunSchema,
  resumeSchema,
  retryRunSchema,
  skipSchema,
  triggerSchema,
} from './commands.ts'
export { closed, instantSchema } from './common.ts'
export { deadLetterSchema, deadLettersSchema } from './dead-letters.ts'
export { eventsSchema, seriesSchema, sessionSchema, statsMessageSchema } from './events.ts'
export { handlersSchema, historyCountsSchema, historySchema } from './history.ts'
export { batchSchema, deleteJobSchema, getJobSchema, listJobsSchema, postJobSchema, putJobSchema } from './jobs.ts'
export * from './limits.ts'
export {
  cancelOperationSchema,
  countOperationSchema,
  createOperationSchema,
  getOperationSchema,
  listOperationsSchema,
  operationSchema,
} from './operations.ts'
export { partitionsSchema } from './partitions.ts'
export { dueJobsSchema, forecastSchema, planSchema } from './plan.ts'
export { limitsSchema, poolChangeSchemas, poolsSchema, workerChangeSchemas } from './pools.ts'
export { acknowledgeFaultsSchema, proofSchema } from './proof.ts'
export { runLogsSchema } from './run-logs.ts'
export { awaitRunSchema, getRunSchema, listActiveRunsSchema, listRunsSchema, whySchema } from './runs.ts'
export {
  livenessSchema,
  metricsSchema,
  openApiSchema,
  previewSchema,
  readinessSchema,
  settingsSchema,
  workersSchema,
} from './system.ts'
