/** An executor over an in-memory log and a manual clock, with its reports. */
import { pino } from 'pino'
import {
  type Execution,
  type ExecutionEvent,
  type ExecutionEventInput,
  type ExecutionInput,
  executionEventSchema,
  executionSchema,
  type Priority,
  type WorkerControl,
  type WorkerControlInput,
  workerControlSchema,
} from '../../schemas/generated.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { avroType } from '../../src/log/kafka/avro/avro-type.ts'
import { AvroCodec } from '../../src/log/kafka/avro/codec.ts'
import { Executor, type ExecutorOptions } from '../../src/worker/executor/executor.ts'
import { type Handlers, isBatchHandler } from '../../src/worker/executor/handlers/handler.ts'
import { topicNames } from '../../streams/topics/topics.ts'
import { LoopbackLog, type LoopbackReader } from '../tools/loopback-log.ts'
import { ManualClock, rest } from '../tools/manual-clock.ts'

const unknownSchema = () => Promise.reject(new Error('unknown schema id'))
export const codecs = {
  execution: new AvroCodec<Execution, ExecutionInput>(avroType(executionSchema), [1], unknownSchema),
  control: new AvroCodec<WorkerControl, WorkerControlInput>(avroType(workerControlSchema), [3], unknownSchema),
  event: new AvroCodec<ExecutionEvent, ExecutionEventInput>(avroType(executionEventSchema), [2], unknownSchema),
}
export const names = topicNames('test.')
export const silent = pino({ level: 'silent' })

/** An attempt that is due at once, with generous limits. */
export function executionOf(clock: ManualClock, wanted: Partial<ExecutionInput> = {}): ExecutionInput {
  const dueAt = wanted.dueAt ?? clock.nowMs()
  return {
    jobId: 'job',
    runNo: 1,
    attempt: 1,
    life: '0-0',
    specOffset: 7,
    handler: 'noop',
    scheduledFor: dueAt,
    dueAt,
    dispatchedAt: clock.nowMs(),
    pool: 'default',
    attemptTimeoutMs: 300_000,
    leaseMs: 30_000,
    startDeadlineAt: dueAt + 86_400_000,
    ...wanted,
  }
}

export interface Place {
  priority?: Priority
  ahead?: boolean
  partition?: number
}

export class Harness {
  readonly clock: ManualClock
  readonly log: LoopbackLog
  readonly metrics = newMetrics()
  readonly executor: Executor
  /** jobId of every start, in order, with the time of it. */
  readonly starts: { jobId: string; atMs: number }[] = []

  constructor(
    handlers: Handlers = {},
    options: Partial<ExecutorOptions> = {},
    shared: { clock?: ManualClock; log?: LoopbackLog } = {},
  ) {
    this.clock = shared.clock ?? new ManualClock()
    this.log = shared.log ?? new LoopbackLog()
    this.log.nowMs = () => this.clock.nowMs()
    const watched: Handlers = {}
    for (const [name, handler] of Object.entries<Handlers[string]>({ noop: () => undefined, ...handlers })) {
      if (isBatchHandler(handler)) {
        watched[name] = handler
        continue
      }
      watched[name] = (run) => {
        this.starts.push({ jobId: run.jobId, atMs: this.clock.nowMs() })
        return handler(run)
      }
    }
    this.executor = new Executor({
      log: this.log,
      codecs,
      names,
      pool: 'default',
      concurrency: 4,
      handlers: watched,
      instance: 'worker@test:1:a',
      clock: this.clock,
      metrics: this.metrics,
      logger: silent,
      drainMs: 1_000,
      ...options,
    })
  }

  async start(): Promise<this> {
    await this.executor.start()
    await rest()
    return this
  }

  get reader(): LoopbackReader {
    return this.log.readers.findLast(({ options }) => options.groupId === 'test.exec.default') as LoopbackReader
  }

  topic({ priority = 'NORMAL', ahead = false }: Place = {}): string {
    return names.executions('default', priority, ahead)
  }

  put(wanted: Partial<ExecutionInput>, place: Place = {}): number {
    const execution = executionOf(this.clock, wanted)
    return this.putBytes(codecs.execution.encode(execution), place, execution.jobId)
  }

  putBytes(value: Buffer | null, place: Place = {}, key = 'job'): number {
    return this.log.append({ topic: this.topic(place), partition: place.partition ?? 0, key, value })
  }

  control(control: WorkerControlInput, partition = 0): number {
    const value = codecs.control.encode(control)
    return this.log.append({ topic: names.control, partition, key: control.jobId, value })
  }

  /** Pins an attempt, like an owner. */
  pin(wanted: Partial<ExecutionInput> & { pinTo: string }): number {
    const execution = executionOf(this.clock, wanted)
    const { jobId, runNo, attempt, pinTo: instance } = execution
    return this.control({ type: 'RUN', jobId, runNo, attempt, instance, execution: codecs.execution.encode(execution) })
  }

  events(partition?: number): ExecutionEvent[] {
    return this.log.records(names.events, partition).map(({ value }) => codecs.event.decode(value as Buffer) as ExecutionEvent)
  }

  committed(place: Place = {}): number | undefined {
    return this.log.committed.get(`test.exec.default ${this.topic(place)}/${place.partition ?? 0}`)
  }

  /** Stops while the clock keeps running, as in production. */
  async stop(): Promise<void> {
    const stopped = this.executor.stop()
    await rest()
    await this.clock.advance(20_000)
    await stopped
  }
}
