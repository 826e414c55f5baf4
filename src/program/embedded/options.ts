/** Options and result of starting the embedded broker and registry. */
import type { DuelogError } from '../../ground/errors/index.ts'
import type { Logger } from '../../ground/logging/index.ts'

export interface EmbeddedOptions {
  /** Folder of all data; created if absent. Broker and registry continue from their data of earlier runs. */
  dataDir: string
  /** Loopback port of the broker; the next higher port is its controller's. */
  kafkaPort: number
  /** Loopback port of the registry. */
  registryPort: number
  wantKafka: boolean
  wantRegistry: boolean
  /**
   * If given, the start does not wait for the registry. The registry starts when the broker is up and this has resolved, so that it
   * takes no processor time from either before; and earlier if it is called.
   */
  registryDue?: Promise<void>
  /** The registry ends when it has not been called for this long, ms, and starts again with the next call. Absent: it stays. */
  registryIdleMs?: number
  /** Partitions of topics that are created without a number. Default 4. */
  partitionsDefault?: number
  /** Heap of the broker, MiB. Default 384. */
  kafkaHeapMb?: number
  /** Compiles hot code of the broker with the optimizing compiler too: less work from some minutes on, more before. Default false. */
  optimizesCode?: boolean
  /** Folder of the lists of SHA-256 that the jars are checked by, for tests. Default: those of this version. */
  jarLists?: string
  logger: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Called with one line for each slow step, such as a download. */
  onProgress?: (message: string) => void
  /** Called once when the broker ends without having been stopped, or the first start of the registry fails. */
  onExit?: (error: DuelogError) => void
  /** Environment of PATH, JAVA_HOME, HOME and XDG_CACHE_HOME. Default: that of this process. */
  env?: NodeJS.ProcessEnv
}

export interface Embedded {
  /** Present if the broker was requested, as `127.0.0.1:port`. */
  brokers: string[] | undefined
  /** Present if the registry was requested: base URL of its Confluent-compatible API. */
  registryUrl: string | undefined
  /** Resolves when the registry has answered for the first time; rejects when it cannot be started. onExit reports such a failure as well. */
  registryUp: Promise<void>
  /** Ends both, registry and broker, and frees the data folder. Safe to call twice. */
  stop(): Promise<void>
}

/** What each part of the start needs: the options with their defaults and with absolute, real paths. */
export interface StartContext extends Required<Omit<EmbeddedOptions, 'onExit' | 'registryDue' | 'registryIdleMs'>> {
  /** The program `java`, checked to be new enough. */
  java: string
  /** Its full version output. */
  javaVersion: string
  /** Folder of the children's output. */
  logDir: string
}
