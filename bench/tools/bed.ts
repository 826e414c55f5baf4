/** What a case runs on: a broker and a registry, a new topic prefix, and the processes it starts. All are removed at the end. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import kafkajs from 'kafkajs'
import { pino } from 'pino'
import { type Codecs, createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { connectLog, type KafkaLog } from '../../src/log/kafka/log.ts'
import type { Embedded } from '../../src/program/embedded/options.ts'
import { startEmbedded } from '../../src/program/embedded/start.ts'
import { type TopicNames, topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { DuelogProcess } from './processes.ts'

/** `replication`: copies of each topic. `logDir`: where the broker that was started for it keeps its logs. */
export interface Bed {
  brokers: string[]
  registryUrl: string
  replication: number
  logDir?: string
}

/**
 * Uses KAFKA_BROKERS and SCHEMA_REGISTRY_URL if they are set. Otherwise it starts its own broker and registry while `task` runs.
 * Topics have DUELOG_REPLICATION copies, by default 1.
 */
export async function withBed(task: (bed: Bed) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-bench-'))
  const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, DUELOG_REPLICATION = '1' } = process.env
  const ports = { kafkaPort: 29_092, registryPort: 28_081 }
  const logger = pino({ level: 'warn' })
  let embedded: Embedded | undefined
  try {
    embedded = await startEmbedded({
      dataDir: folder,
      ...ports,
      wantKafka: KAFKA_BROKERS === undefined,
      wantRegistry: SCHEMA_REGISTRY_URL === undefined,
      logger,
    })
    await task({
      brokers: embedded.brokers ?? KAFKA_BROKERS?.split(',') ?? [],
      registryUrl: embedded.registryUrl ?? SCHEMA_REGISTRY_URL ?? '',
      replication: Number(DUELOG_REPLICATION),
      ...(embedded.brokers !== undefined && { logDir: join(folder, 'kafka', 'log') }),
    })
  } finally {
    await embedded?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** One run of a case, with its own topics and folders. */
export class Stage {
  readonly bed: Bed
  readonly partitions: number
  readonly prefix: string
  readonly names: TopicNames
  readonly log: KafkaLog
  readonly codecs: Codecs
  readonly folder: string
  readonly #processes = new Set<DuelogProcess>()

  private constructor(bed: Bed, partitions: number, prefix: string, log: KafkaLog, codecs: Codecs, folder: string) {
    this.bed = bed
    this.partitions = partitions
    this.prefix = prefix
    this.names = topicNames(prefix)
    this.log = log
    this.codecs = codecs
    this.folder = folder
  }

  static async open(bed: Bed, partitions = 4): Promise<Stage> {
    const prefix = `bench-${Date.now()}.`
    const plans = topicPlans(topicNames(prefix), ['default'])
    const log = connectLog({ brokers: bed.brokers, clientId: 'bench' })
    await log.ensureTopics({ plans, partitions, replication: bed.replication })
    const codecs = await createCodecs({ registryUrl: bed.registryUrl, plans })
    return new Stage(bed, partitions, prefix, log, codecs, await mkdtemp(join(tmpdir(), 'duelog-bench-run-')))
  }

  /** `store`: processes with the same name use the same local stores, one after another. */
  async start(roles: string, store: string, env: Record<string, string> = {}): Promise<DuelogProcess> {
    const { brokers, registryUrl } = this.bed
    const started = await DuelogProcess.start({
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DUELOG_TOPIC_PREFIX: this.prefix,
      DUELOG_ROLES: roles,
      DUELOG_HTTP_PORT: '0',
      DUELOG_DATA_DIR: join(this.folder, store),
      DUELOG_PARTITIONS: String(this.partitions),
      DUELOG_REPLICATION: String(this.bed.replication),
      ...env,
    })
    this.#processes.add(started)
    return started
  }

  async close(): Promise<void> {
    await Promise.all([...this.#processes].map((started) => started.stop()))
    const admin = new kafkajs.Kafka({ brokers: this.bed.brokers, logLevel: kafkajs.logLevel.NOTHING }).admin()
    await admin.connect()
    const topics = await admin.listTopics()
    await admin.deleteTopics({ topics: topics.filter((topic) => topic.startsWith(this.prefix)) })
    await admin.disconnect()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** A job definition with a payload of `payloadBytes`. */
export function benchJob(id: string, at: number, payloadBytes: number) {
  return { id, schedule: { at }, target: { handler: 'bench' }, payload: 'x'.repeat(payloadBytes), contentType: 'text/plain' }
}

export function* jobs(count: number, atOf: (index: number) => number, payloadBytes: number, name = 'job') {
  for (let index = 0; index < count; index++) yield benchJob(`${name}-${index}`, atOf(index), payloadBytes)
}
