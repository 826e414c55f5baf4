/** A broker of another version of Apache Kafka than the one that Duelog brings. Its jars come from Maven once, and stay in the cache of this user. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { kafkaVersion } from '../../src/program/embedded/artifacts.ts'
import { brokerProperties } from '../../src/program/embedded/broker.ts'
import { BrokerNode } from '../docker/broker-node.ts'
import { freePorts } from '../setup/free-ports.ts'

const pomUrl = new URL('../../src/program/embedded/kafka.pom.xml', import.meta.url)

async function jarsOf(version: string): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'duelog')
  const target = join(cache, `test-kafka-${version}`)
  if (existsSync(target)) return target
  await mkdir(cache, { recursive: true })
  const unfinished = await mkdtemp(join(cache, 'test-unfinished-'))
  const pom = join(unfinished, 'pom.xml')
  await writeFile(pom, (await readFile(pomUrl, 'utf8')).replace(`>${kafkaVersion}<`, `>${version}<`))
  const args = ['-B', '-q', '--strict-checksums', '-f', pom, 'process-resources', `-Dduelog.target=${unfinished}`]
  await promisify(execFile)('mvn', args)
  await rename(unfinished, target)
  return target
}

/** Its address, once it serves. `folder`: for its data. */
export async function startKafka(version: string, folder: string): Promise<{ address: string; node: BrokerNode }> {
  const jars = await jarsOf(version)
  const [port] = await freePorts()
  const properties = brokerProperties({ port, partitionsDefault: 1, logDir: folder })
  const environment = Object.fromEntries(
    properties
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line) => line.split('='))
      .map(([name = '', value = '']) => [`KAFKA_${name.toUpperCase().replaceAll('.', '_')}`, value]),
  )
  const node = await BrokerNode.start(folder, { ...environment, CLUSTER_ID: 'AAAAAAAAAAAAAAAAAAAAAA' }, [], jars)
  await node.up()
  return { address: `127.0.0.1:${port}`, node }
}
