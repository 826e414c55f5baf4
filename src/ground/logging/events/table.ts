/** Every log event of Duelog, in groups for the page LOGS. Names are stable: alerts and searches use them. */
import { apiEvents } from './api.ts'
import { kafkaEvents } from './kafka.ts'
import { processEvents } from './process.ts'
import { schedulerEvents } from './scheduler.ts'
import { workerEvents } from './workers.ts'

export const eventGroups = {
  'Start, stop and process': processEvents,
  'Brokers, topics and registry': kafkaEvents,
  'Owners of partitions': schedulerEvents,
  'Workers and retries': workerEvents,
  'API, operations, history and auditor': apiEvents,
} as const

export const events = { ...processEvents, ...kafkaEvents, ...schedulerEvents, ...workerEvents, ...apiEvents } as const
