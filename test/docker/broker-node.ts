/** One broker of the compose file as a plain process on loopback, with the very settings that its container would have. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { artifactFolder } from '../../src/program/embedded/artifacts.ts'
import { type GuardedProcess, markOf, startGuarded } from '../../src/program/embedded/guarded-process.ts'
import { childEnvironment, findJava } from '../../src/program/embedded/java.ts'
import type { StartContext } from '../../src/program/embedded/options.ts'

/** What keeps three brokers small beside the tests, and has nothing to do with what they promise. */
const small = {
  'offsets.topic.num.partitions': 4,
  'transaction.state.log.num.partitions': 4,
  'share.coordinator.state.topic.num.partitions': 1,
  'group.initial.rebalance.delay.ms': 0,
  'log.cleaner.threads': 1,
  'log.cleaner.dedupe.buffer.size': 32 * 1024 * 1024,
  'num.network.threads': 2,
  'num.io.threads': 4,
}

/** server.properties as the image of Apache Kafka makes them: KAFKA_LOG_DIRS is log.dirs. */
export function propertiesOf(environment: Record<string, string>, more: Record<string, string | number>): string {
  const settings = Object.entries(environment)
    // The heap is an option of Java.
    .filter(([name]) => name.startsWith('KAFKA_') && name !== 'KAFKA_HEAP_OPTS')
    .map(([name, value]) => [name.slice('KAFKA_'.length).toLowerCase().replaceAll('_', '.'), value])
  return Object.entries({ ...Object.fromEntries(settings), ...more })
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
}

export class BrokerNode {
  readonly #folder: string
  readonly #process: GuardedProcess

  private constructor(folder: string, process: GuardedProcess) {
    this.#folder = folder
    this.#process = process
  }

  /** Formats its storage and starts it, with these options of Java; `up` resolves when it serves. Default of `jars`: those of Duelog. */
  static async start(
    folder: string,
    environment: Record<string, string>,
    options: string[] = [],
    jars?: string,
  ): Promise<BrokerNode> {
    await mkdir(join(folder, 'tmp'), { recursive: true })
    const { env } = process
    const { path: java } = await findJava(env)
    const path = jars ?? (await artifactFolder('kafka', { env, onProgress: console.log } as unknown as StartContext))
    const properties = join(folder, 'server.properties')
    await writeFile(properties, propertiesOf(environment, { ...small, 'log.dirs': join(folder, 'log') }))
    const args = [
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      `-Djava.io.tmpdir=${join(folder, 'tmp')}`,
      '-Dorg.slf4j.simpleLogger.logFile=System.out',
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
      '-cp',
      join(path, '*'),
    ]
    const childEnv = childEnvironment(env)
    const format = ['kafka.tools.StorageTool', 'format', `--cluster-id=${environment.CLUSTER_ID}`, '-c', properties]
    await promisify(execFile)(java, ['-Xmx96m', ...args, ...format], { env: childEnv })
    const started = startGuarded({
      title: `Broker ${environment.KAFKA_NODE_ID}`,
      java,
      args: ['-Xms96m', '-Xmx256m', ...options, markOf(folder), ...args, 'kafka.Kafka', properties],
      cwd: folder,
      env: childEnv,
      logFile: join(folder, 'kafka.log'),
      pidFile: join(folder, 'kafka.pid'),
      dataDir: folder,
    })
    return new BrokerNode(folder, started)
  }

  /** With a quorum of others, that is: none is up before a second one was started. */
  up(): Promise<void> {
    return this.#process.line(/Kafka Server started/)
  }

  /** kill −9, and waits for the end. */
  async kill(): Promise<void> {
    process.kill(Number(await readFile(join(this.#folder, 'kafka.pid'), 'utf8')), 'SIGKILL')
    await this.#process.exited
  }

  stop(): Promise<void> {
    return this.#process.stop()
  }
}
