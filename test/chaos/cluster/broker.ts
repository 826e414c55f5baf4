/** Three brokers of real Apache Kafka, from the jars of the embedded broker. Each is also a controller. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { childEnvironment } from '../../../src/program/embedded/java.ts'
import type { Places } from '../network/network.ts'
import { type BrokerPlace, brokerPlaces, nodeIdOf } from '../places.ts'
import { Program } from '../system/program.ts'
import { brokerProperties } from './properties.ts'
import type { Tools } from './tools.ts'

const run = promisify(execFile)

export type Brokers = Record<BrokerPlace, Program>

/** Formats the storage folders and starts all three brokers, with further settings. Resolves when each says that it has started. */
export async function startBrokers(
  network: Places,
  tools: Tools,
  folder: string,
  onStart: (program: Program) => void,
  settings: Readonly<Record<string, string>> = {},
): Promise<Brokers> {
  const env = childEnvironment(process.env)
  const entries: [BrokerPlace, Program][] = []
  for (const place of brokerPlaces) {
    const home = join(folder, place)
    await mkdir(join(home, 'tmp'), { recursive: true })
    const properties = join(home, 'server.properties')
    await writeFile(properties, brokerProperties(nodeIdOf(place), network.listeners(place), join(home, 'log'), settings))
    const args = [
      ...['-Xms128m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:-UsePerfData', '-XX:+ExitOnOutOfMemoryError'],
      ...tools.classArchive,
      `-Djava.io.tmpdir=${join(home, 'tmp')}`,
      '-Dorg.slf4j.simpleLogger.logFile=System.out',
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
      '-Dorg.slf4j.simpleLogger.showDateTime=true',
      "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
      ...['-cp', join(tools.kafkaJars, '*'), 'kafka.Kafka', properties],
    ]
    const ready = /Kafka Server started/
    entries.push([place, new Program(network, { title: place, place, program: tools.java, args, env, folder: home, ready })])
  }
  await format(folder, tools, env)
  const brokers = Object.fromEntries(entries) as Brokers
  for (const broker of Object.values(brokers)) onStart(broker)
  await Promise.all(Object.values(brokers).map((broker) => broker.start()))
  return brokers
}

/** Formats one storage folder and copies it for the others, which saves two starts of Java. */
async function format(folder: string, tools: Tools, env: NodeJS.ProcessEnv): Promise<void> {
  const [first, ...others] = brokerPlaces
  const clusterId = randomBytes(16).toString('base64url')
  const storage = ['kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '-c', 'server.properties']
  const args = ['-Xmx128m', '-XX:TieredStopAtLevel=1', '-cp', join(tools.kafkaJars, '*'), ...storage]
  await run(tools.java, args, { cwd: join(folder, first), env })
  for (const other of others) {
    const log = join(folder, other, 'log')
    await cp(join(folder, first, 'log'), log, { recursive: true })
    const file = join(log, 'meta.properties')
    const text = await readFile(file, 'utf8')
    const changed = text
      .replace(/^node\.id=.*$/m, `node.id=${nodeIdOf(other)}`)
      .replace(/^directory\.id=.*$/m, `directory.id=${randomBytes(16).toString('base64url').replace(/^-/, 'A')}`)
    await writeFile(file, changed)
  }
}
