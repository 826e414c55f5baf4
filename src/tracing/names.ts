/** Names of spans and their attributes: those of the OpenTelemetry conventions for messaging where they have one, and `duelog.` otherwise. */

/** The first word of a span's name. The second says what it is about: a handler, a topic or a pool, and never a job. */
export const spanNames = {
  /** Of the owner: from the begin of the commit cycle to the decision. */
  decide: 'decide',
  /** Of the owner: from the decision to its commit, which writes the run to its topic. */
  dispatch: 'dispatch',
  /** Of the worker: from the dispatch to the start of the handler. Most of it is the time until the run is due, and its queue. */
  wait: 'wait',
  /** Of the worker: the handler. */
  run: 'run',
} as const

export const attributeNames = {
  system: 'messaging.system',
  operation: 'messaging.operation.name',
  operationType: 'messaging.operation.type',
  destination: 'messaging.destination.name',
  destinationPartition: 'messaging.destination.partition.id',
  messageId: 'messaging.message.id',
  offset: 'messaging.kafka.offset',
  batchSize: 'messaging.batch.message_count',
  errorType: 'error.type',
  jobId: 'duelog.job.id',
  runNo: 'duelog.run.number',
  attempt: 'duelog.run.attempt',
  trigger: 'duelog.run.trigger',
  handler: 'duelog.handler',
  pool: 'duelog.pool',
  scheduledFor: 'duelog.scheduled_for',
  lateness: 'duelog.lateness_ms',
  outcome: 'duelog.outcome',
} as const
