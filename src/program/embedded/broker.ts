/** The embedded broker: one Apache Kafka node that is broker and controller in one, on loopback only. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { DuelogError } from '../../ground/errors/index.ts'
import { privateFileMode, privateFolderMode } from '../../ground/process/index.ts'
import { artifactFolder, titles } from './artifacts.ts'
import { type GuardedProcess, markOf, reasonOf, startGuarded } from './guarded-process.ts'
import { childEnvironment, classArchiveArguments, javaFlags } from './java.ts'
import type { StartContext } from './options.ts'

/** Batches up to this size are taken; a payload of 1 MB and its envelope fit well. */
const messageBytesMax = 4 * 1024 * 1024

/** Settings of the one node. `logDir` is relative to the folder of this file. */
export function brokerProperties(options: { port: number; partitionsDefault: number; logDir: string }): string {
  const { port, partitionsDefault, logDir } = options
  const settings: Record<string, string | number | boolean> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${port + 1}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': logDir,
    'num.partitions': partitionsDefault,
    'auto.create.topics.enable': false,
    'default.replication.factor': 1,
    'min.insync.replicas': 1,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 8,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 8,
    // How long a leader lets a transaction wait whose id still ends the one before; by default 20. Owners commit back to back.
    'add.partitions.to.txn.retry.backoff.ms': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 1,
    // A group on one machine is complete at once, and its members may time out within seconds.
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1_000,
    // After a crash the controller waits for the end of the previous broker session, which was this broker's own.
    'broker.session.timeout.ms': 4_000,
    'broker.heartbeat.interval.ms': 1_000,
    'message.max.bytes': messageBytesMax,
    // Buffers and threads for one small machine; the defaults are for a server of its own.
    'log.cleaner.enable': true,
    'log.cleaner.threads': 1,
    // Taken in full at the start. It has room for 300,000 keys; a partition with more is cleaned in several passes.
    'log.cleaner.dedupe.buffer.size': 8 * 1024 * 1024,
    // Ended waits of fetches stay in memory until this many have begun, by default 1,000.
    'fetch.purgatory.purge.interval.requests': 100,
    'producer.purgatory.purge.interval.requests': 100,
    'background.threads': 2,
    'num.network.threads': 2,
    'num.io.threads': 4,
    // The controller writes a record of its own whenever it had nothing to write for this long; by default twice a second.
    'metadata.max.idle.interval.ms': 10_000,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  return `# Written by Duelog at each start.\n${lines.join('\n')}\n`
}

/** Starts the broker and resolves when it answers requests. */
export async function startBroker(context: StartContext, onStart: (process: GuardedProcess) => void): Promise<string> {
  const { dataDir, kafkaPort, partitionsDefault, java, logDir } = context
  const jars = await artifactFolder('kafka', context)
  const folder = join(dataDir, 'kafka')
  await mkdir(join(folder, 'tmp'), { recursive: true, mode: privateFolderMode })
  const properties = join(folder, 'server.properties')
  await writeFile(properties, brokerProperties({ port: kafkaPort, partitionsDefault, logDir: 'log' }), { mode: privateFileMode })
  const args = [
    `-Djava.io.tmpdir=${join(folder, 'tmp')}`,
    '-Dorg.slf4j.simpleLogger.logFile=System.out',
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
    '-Dorg.slf4j.simpleLogger.showDateTime=true',
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
    '-Dorg.slf4j.simpleLogger.showThreadName=false',
    '-cp',
    join(jars, '*'),
  ]
  const env = childEnvironment(context.env)
  const archive = await classArchiveArguments(jars, context.javaVersion)
  if (!existsSync(join(folder, 'log'))) await format(folder, { java, args, env }, context)
  const process = startGuarded({
    title: titles.kafka,
    java,
    args: [
      '-Xms64m',
      `-Xmx${context.kafkaHeapMb}m`,
      '-Xmn24m',
      markOf(dataDir),
      ...javaFlags(context),
      ...archive,
      ...args,
      'kafka.Kafka',
      properties,
    ],
    cwd: folder,
    env,
    logFile: join(logDir, 'kafka.log'),
    pidFile: join(dataDir, 'kafka.pid'),
    dataDir,
  })
  onStart(process)
  await process.line(/Kafka Server started/)
  await answers(kafkaPort).catch((error: Error) => {
    throw process.failure(`does not answer on port ${kafkaPort} (${error.message})`)
  })
  return `127.0.0.1:${kafkaPort}`
}

/**
 * Gives the node its empty storage. The folder is created under another name first, so that a half-formatted folder is never used as
 * storage.
 */
async function format(
  folder: string,
  run: { java: string; args: string[]; env: NodeJS.ProcessEnv },
  context: StartContext,
): Promise<void> {
  context.onProgress(`Preparing the storage of ${titles.kafka} …`)
  await rm(join(folder, 'log.new'), { recursive: true, force: true })
  const properties = join(folder, 'format.properties')
  const { kafkaPort: port, partitionsDefault } = context
  await writeFile(properties, brokerProperties({ port, partitionsDefault, logDir: 'log.new' }), { mode: privateFileMode })
  const clusterId = randomBytes(16).toString('base64url')
  const args = [
    '-Xmx128m',
    '-XX:TieredStopAtLevel=1',
    ...run.args,
    'kafka.tools.StorageTool',
    'format',
    // One word, because an id may begin with a dash.
    `--cluster-id=${clusterId}`,
    '-c',
    properties,
  ]
  await new Promise<void>((resolve, reject) => {
    execFile(
      '/bin/sh',
      ['-c', 'umask 077 && exec "$0" "$@"', run.java, ...args],
      { cwd: folder, env: run.env },
      (error, stdout, stderr) => {
        if (!error) return resolve()
        const why = reasonOf(`${stdout}\n${stderr}`)
        reject(
          new DuelogError('embedded-failed', `The storage of ${titles.kafka} in ${folder} could not be prepared: ${why}.`, {
            cause: error,
          }),
        )
      },
    )
  })
  await rename(join(folder, 'log.new'), join(folder, 'log'))
  await rm(properties)
}

const childAnswerMsMax = 10_000

/** Asks which request versions the broker supports (ApiVersions v0), the only request that needs no earlier one. */
function answers(port: number): Promise<void> {
  const correlationId = 7
  const request = Buffer.alloc(14)
  request.writeInt32BE(10, 0)
  request.writeInt16BE(18, 4)
  request.writeInt16BE(0, 6)
  request.writeInt32BE(correlationId, 8)
  request.writeInt16BE(-1, 12)
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => socket.write(request))
    let answer = Buffer.alloc(0)
    socket.setTimeout(childAnswerMsMax, () => socket.destroy(new Error(`no answer within ${childAnswerMsMax / 1000} s`)))
    socket.on('data', (data) => {
      answer = Buffer.concat([answer, data])
      if (answer.length < 10) return
      if (answer.readInt32BE(4) === correlationId && answer.readInt16BE(8) === 0) resolve()
      socket.destroy(new Error('the answer is not that of a broker'))
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed')))
  })
}
