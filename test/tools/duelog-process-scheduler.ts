/**
 * A scheduler under test with the real broker and the real store. Only the ports that it gets may be wrapped; its code is that of
 * the product.
 */
import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { type Clock, systemClock } from '../../src/ground/clock/clock.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { Log, RecordOut } from '../../src/ground/ports/log.ts'
import type { PartitionStore, PartitionStores } from '../../src/ground/ports/store.ts'
import { newInstance } from '../../src/ground/process/instance.ts'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { connectLog, type LogOptions } from '../../src/log/kafka/log.ts'
import { rocksStores } from '../../src/log/store/rocks-store.ts'
import { Scheduler } from '../../src/scheduler/scheduler.ts'
import { topicNames, topicPlans } from '../../streams/topics/topics.ts'
import type { Crash, SchedulerPlan, SchedulerReport } from './duelog-process-plan.ts'
import { apiKeys } from './tcp-proxy.ts'

export interface SchedulerUnderTest {
  scheduler: Scheduler
  /** name@host:pid:boot */
  instance: string
  report(): Promise<SchedulerReport>
}

/** `onLog` gets every line from level info on. `onFatal` gets the errors that would end the program. */
export async function schedulerOf(
  plan: SchedulerPlan,
  onLog: (level: number, message: string) => void,
  onFatal: (error: Error) => void,
): Promise<SchedulerUnderTest> {
  const names = topicNames(plan.prefix)
  const plans = topicPlans(names, ['default'])
  const instance = newInstance()
  const metrics = newMetrics()
  const logger = pino(
    { level: 'info' },
    {
      write(line: string) {
        const { level, msg } = JSON.parse(line) as { level: number; msg: string }
        onLog(level, msg)
      },
    },
  )
  const crash = plan.crash === undefined ? undefined : new Crashing(plan.crash, plan.prefix, plan.targetTopic)
  const { sessionTimeoutMs = 1_500, requestTimeoutMs, transactionTimeoutMs } = plan
  const options: LogOptions = {
    brokers: plan.brokers,
    clientId: instance,
    logger,
    sessionTimeoutMs,
    // A long session must not make the others wait until a member hears that somebody joins.
    heartbeatIntervalMs: Math.min(Math.floor(sessionTimeoutMs / 6), 1_000),
    rebalanceTimeoutMs: Math.max(sessionTimeoutMs * 2, 5_000),
    socketFactory: ({ host, port, onConnect }) => {
      const socket =
        plan.proxyPort === undefined ? connect(port, host, onConnect) : connect(plan.proxyPort, '127.0.0.1', onConnect)
      socket.setKeepAlive(true, 60_000)
      return crash === undefined ? socket : crash.socket(socket)
    },
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    ...(transactionTimeoutMs === undefined ? {} : { transactionTimeoutMs }),
  }
  const log = late(connectLog(options), names.jobs, plan.lateJobsMs ?? 0)
  const stores = breaking(rocksStores(plan.folder), plan.brokenFile)
  const patterns = plan.targetTopic === undefined ? [] : [plan.targetTopic]
  const targets = connectLog(options).targetTopics({ patterns, prefix: plan.prefix, pools: ['default'] })
  await targets.start()
  const scheduler = new Scheduler({
    log: crash === undefined ? log : crash.log(log),
    codecs: await createCodecs({ registryUrl: plan.registryUrl, plans }),
    names,
    prefix: plan.prefix,
    partitions: plan.partitions,
    instance,
    userData: () => plan.userData ?? null,
    stores: crash === undefined ? stores : crash.stores(stores),
    clock: aheadBy(plan.clockAheadMs ?? 0),
    metrics,
    logger,
    standbys: plan.standbys ?? 0,
    leadMs: 100,
    leadMsMax: 10_000,
    lingerMs: 25,
    tombstoneRetentionMs: 7 * 86_400_000,
    targets,
    onFatal,
  })
  return {
    scheduler,
    instance,
    async report() {
      const counts = async (metric: { get(): Promise<{ values: { value: number; labels: object }[] }> }) =>
        Object.fromEntries((await metric.get()).values.map(({ value, labels }) => [Object.values(labels).join(), value]))
      const single = async (metric: Parameters<typeof counts>[0]) => (await metric.get()).values[0]?.value ?? 0
      return {
        partitions: scheduler.queries.partitions().map((view) => {
          const { partition, phase, role = 'owner', behindRecords = null } = view
          return { partition, phase, role, behindRecords }
        }),
        fenced: await single(metrics.fenced),
        reopens: await counts(metrics.reopens),
        invalid: await counts(metrics.invalid),
        misrouted: await single(metrics.misrouted),
      }
    },
  }
}

function breaking(stores: PartitionStores, file: string | undefined): PartitionStores {
  if (file === undefined) return stores
  const guarded =
    <Args extends unknown[], Value>(task: (...args: Args) => Promise<Value>) =>
    async (...args: Args): Promise<Value> => {
      if (existsSync(file)) throw new Error('Input/output error')
      return task(...args)
    }
  const watched = (store: PartitionStore): PartitionStore => ({
    ...store,
    get: guarded((keys) => store.get(keys)),
    scan: guarded((options) => store.scan(options)),
    apply: guarded((ops) => store.apply(ops)),
  })
  return {
    held: () => stores.held(),
    wipe: guarded((partition) => stores.wipe(partition)),
    open: guarded(async (partition) => {
      const { store, wiped } = await stores.open(partition)
      return { store: watched(store), wiped }
    }),
  }
}

/** A log whose reader gets nothing of one topic for some time, as during a change of leaders of its partitions. */
function late(log: Log, topic: string, forMs: number): Log {
  if (forMs === 0) return log
  let until: number | undefined
  return {
    writer: () => log.writer(),
    transactionalWriter: (id, fence) => log.transactionalWriter(id, fence),
    admin: () => log.admin(),
    reader(options) {
      const reader = log.reader({
        ...options,
        onBatch(batch) {
          const [first] = batch.records
          until ??= Date.now() + forMs
          if (batch.topic !== topic || first === undefined || Date.now() >= until) return options.onBatch(batch)
          reader.pause([batch])
          reader.seek({ topic, partition: batch.partition, offset: first.offset })
          setTimeout(() => reader.resume([batch]), until - Date.now())
        },
      })
      return reader
    },
  }
}

/** Ends this process at one point. It wraps what the scheduler gets. */
class Crashing {
  readonly #crash: Crash
  readonly #executions: string
  readonly #others: readonly (string | undefined)[]
  #dispatches = 0
  /** Whether the commit in progress is the chosen one. */
  #now = false

  constructor(crash: Crash, prefix: string, targetTopic: string | undefined) {
    this.#crash = crash
    this.#executions = `${prefix}executions.`
    this.#others = [targetTopic, crash.also === undefined ? undefined : `${prefix}${crash.also}`]
  }

  log(log: Log): Log {
    return {
      writer: () => log.writer(),
      reader: (options) => log.reader(options),
      admin: () => log.admin(),
      transactionalWriter: async (id, fence) => {
        const writer = await log.transactionalWriter(id, fence)
        this.#at('before-claim', true)
        return {
          close: () => writer.close(),
          commit: async (records) => {
            this.#now ||= this.#isTheOne(records)
            this.#at('before-send', this.#now)
            const offsets = await writer.commit(records)
            this.#at('after-commit', this.#now)
            return offsets
          },
        }
      },
    }
  }

  stores(stores: PartitionStores): PartitionStores {
    return {
      ...stores,
      open: async (partition) => {
        const opened = await stores.open(partition)
        const { store } = opened
        const apply = async (ops: Parameters<typeof store.apply>[0]): Promise<void> => {
          await store.apply(ops)
          this.#at('after-apply', this.#now)
        }
        return { ...opened, store: { ...store, apply } }
      },
    }
  }

  socket(socket: Socket): Socket {
    const write = socket.write.bind(socket) as (frame: Buffer, ...rest: unknown[]) => boolean
    socket.write = ((frame: Buffer, ...rest: unknown[]): boolean => {
      const ending = this.#now && frame.length > 6 && frame.readInt16BE(4) === apiKeys.endTxn
      this.#at('before-end', ending)
      const written = write(frame, ...rest)
      if (ending && this.#crash.point === 'end-sent') flushed(socket, () => this.#at('end-sent', true))
      return written
    }) as typeof socket.write
    return socket
  }

  /** Commits of all partitions are counted together. With two at once, the first that reaches the number is chosen. */
  #isTheOne(records: RecordOut[]): boolean {
    if (!records.some(({ topic }) => topic.startsWith(this.#executions) || this.#others.includes(topic))) return false
    return ++this.#dispatches === this.#crash.nth
  }

  #at(point: Crash['point'], here: boolean): void {
    if (here && point === this.#crash.point) process.kill(process.pid, 'SIGKILL')
  }
}

/** Calls back when all written data is in the kernel, which delivers it also for a dead process. */
function flushed(socket: Socket, done: () => void): void {
  if (socket.writableLength === 0) done()
  else socket.once('drain', done)
}

const aheadBy = (ms: number): Clock => ({
  ...systemClock,
  nowMs: () => systemClock.nowMs() + ms,
  at: (atMs, task) => systemClock.at(atMs - ms, task),
})
