/** The systems, by name, and what each runs on. */
import { bullmq } from './bullmq.ts'
import { duelog } from './duelog.ts'
import { graphileWorker } from './graphile-worker.ts'
import { bareKafkajs } from './kafkajs.ts'
import { pgBoss } from './pg-boss.ts'
import type { System } from './system.ts'

export type ServerName = 'kafka' | 'redis' | 'postgres'

export const systems = {
  Duelog: { server: 'kafka', system: duelog },
  BullMQ: { server: 'redis', system: bullmq },
  'graphile-worker': { server: 'postgres', system: graphileWorker },
  'pg-boss': { server: 'postgres', system: pgBoss },
  'bare kafkajs': { server: 'kafka', system: bareKafkajs },
} as const satisfies Record<string, { server: ServerName; system: System }>

export type SystemName = keyof typeof systems
export const systemNames = Object.keys(systems) as SystemName[]
