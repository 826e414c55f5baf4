/** What starting the embedded broker and registry needs to know, and what it gives back. */
import type { Logger } from 'pino'
import type { DuelogError } from '../errors/index.ts'

export interface EmbeddedOptions {
  /** Folder of all data; made if absent. Broker and registry find in it what they wrote in earlier runs. */
  dataDir: string
  /** Loopback port of the broker; the next one up is its controller's. */
  kafkaPort: number
  /** Loopback port of the registry. */
  registryPort: number
  wantKafka: boolean
  wantRegistry: boolean
  /** Given: nobody waits for the registry, which starts when the broker is up and this has resolved, and takes the processor from neither before. */
  registryDue?: Promise<void>
  /** Partitions of topics that are created without a number. Default 4. */
  partitionsDefault?: number
  /** Heap of the broker, MiB. Default 384. */
  kafkaHeapMb?: number
  logger: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Told in one line each what takes time, such as a download. */
  onProgress?: (message: string) => void
  /** Told once when the broker or registry ends although nobody stopped it. */
  onExit?: (error: DuelogError) => void
  /** Environment of PATH, JAVA_HOME, HOME and XDG_CACHE_HOME. Default: that of this process. */
  env?: NodeJS.ProcessEnv
}

export interface Embedded {
  /** Present where the broker was wanted, as `127.0.0.1:port`. */
  brokers: string[] | undefined
  /** Present where the registry was wanted: base URL of its Confluent-compatible API. */
  registryUrl: string | undefined
  /** Resolves when the registry answers; rejects when it cannot be started. Of this it is told besides by onExit. */
  registryUp: Promise<void>
  /** Ends both, registry and broker, and frees the data folder. Safe to call twice. */
  stop(): Promise<void>
}

/** What each part of the start needs: the options with their defaults and with absolute, real paths. */
export interface StartContext extends Required<Omit<EmbeddedOptions, 'onExit' | 'registryDue'>> {
  /** The program `java`, checked to be new enough. */
  java: string
  /** All that it says of its version. */
  javaVersion: string
  /** Folder of the children's output. */
  logDir: string
}
