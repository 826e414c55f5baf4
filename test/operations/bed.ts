/** An operation against an owner in memory: its log, its clock, and what the owner was asked. */
import { pino } from 'pino'
import type { JobCommand, OperationRecord, OperationRequest } from '../../schemas/generated.ts'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { Codec, RecordOut } from '../../src/ground/ports/log.ts'
import type { Announced, Operation, Target, TargetQuery } from '../../src/ground/ports/operations.ts'
import { createOperations } from '../../src/server/operations/operations.ts'
import type { AskedOwner } from '../../src/server/operations/options.ts'
import { topicNames } from '../../streams/topics/topics.ts'
import { LoopbackLog } from '../tools/loopback-log.ts'
import { ManualClock, rest, VirtualTime } from '../tools/manual-clock.ts'

export const names = topicNames('test.')
const codec = <Value>(): Codec<Value> => ({
  encode: (value) => Buffer.from(JSON.stringify(value)),
  decode: (bytes) =>
    JSON.parse(bytes.toString(), (_name, value) => (value?.type === 'Buffer' ? Buffer.from(value.data) : value)) as Value,
})
export const codecs = { command: codec<JobCommand>(), operation: codec<OperationRecord>() }
const nothing = {
  jobIds: null,
  runIds: null,
  tag: null,
  handler: null,
  status: null,
  idPrefix: null,
  idContains: null,
  runStatus: null,
  ...{ diedFrom: null, diedTo: null, errorType: null, errorKind: null },
  payload: null,
  payloadIsJson: false,
}
export const pauseAll: OperationRequest = { action: 'PAUSE', ...nothing, actor: 'anna' }
/** By commands, page by page. */
export const pauseListed: OperationRequest = { ...pauseAll, jobIds: ['a', 'b', 'c', 'd', 'e'] }
export const limits = {
  ...{
    operationsActiveMax: 2,
    operationsPerCallerMax: 2,
    operationsReserved: 0,
    operationsKeptMax: 2,
    operationsKeptMs: 3_600_000,
    operationMsMax: 86_400_000,
  },
  ...{ operationsCaughtUpMs: 5_000, recordBytesMax: 10_000 },
}

/** One partition whose owner has these targets, in pages of two. */
export class Bed {
  readonly clock = new ManualClock(new VirtualTime())
  readonly log: LoopbackLog
  readonly asked: TargetQuery[] = []
  /** Number of records of each write. */
  readonly writes: number[] = []
  targets: Target[] = ['a', 'b', 'c', 'd', 'e'].map((id, offset) => ({ id, offset }))
  /** Refuses a question while it is set. */
  away: DuelogError | undefined
  readonly owner: AskedOwner = {
    targets: async (_partition, query) => {
      this.asked.push(query)
      if (this.away !== undefined) throw this.away
      const { after = '', until = '\uffff', limit, countOnly = false, cutOff = { jobsOffset: 7, at: 5 } } = query
      const found = limit === 0 ? [] : this.targets.filter(({ id }) => id > after && id <= until)
      const page = countOnly ? found : found.slice(0, 2)
      const count = page.reduce((sum, { runs }) => sum + (runs?.length ?? 1), 0)
      const next = page.length < found.length ? page.at(-1)?.id : undefined
      return { targets: countOnly ? [] : page, count, cutOff, ...(next !== undefined && { next }) }
    },
    change: async () => ({ changed: this.targets.length, refused: [] }),
    announce: async (_partition, { waitMs }, asker) => {
      const { promise, resolve, reject } = Promise.withResolvers<Announced>()
      asker?.signal?.addEventListener('abort', () => reject(asker.signal?.reason))
      if (waitMs === 0) resolve({ cutOff: { jobsOffset: 7, at: 5 }, isActive: true, ahead: 0 })
      return promise
    },
    applied: async () => true,
    why: async () => ({ status: 'ACTIVE', reasons: [] }),
    job: async () => undefined,
  }
  readonly operations

  constructor(log = new LoopbackLog(1), partitions = 1, more: Partial<typeof limits> = {}) {
    this.log = log
    this.log.nowMs = () => this.clock.nowMs()
    const writer = {
      write: async (records: RecordOut[]) => {
        this.writes.push(records.length)
        return (await this.log.writer()).write(records)
      },
      close: async () => {},
    }
    this.operations = createOperations(
      {
        ...{
          log: this.log,
          codecs,
          names,
          partitions,
          instance: 'api@test:1:a',
          clock: this.clock,
          limits: { ...limits, ...more },
        },
        admin: {
          offsets: async (topic) =>
            Array.from({ length: partitions }, (_, partition) => ({
              ...{ partition, earliest: 0, next: this.log.records(topic, partition).length },
            })),
        },
        owners: { ask: async (_partition, question) => question(this.owner) },
        logger: pino({ level: 'silent' }),
      },
      writer,
    )
  }

  /** Resolves with the operation when it has ended. */
  async ended(id: string): Promise<Operation> {
    for (;;) {
      const operation = await this.operations.get(id)
      if (operation?.progress?.endedAt != null) return operation
      await this.clock.advance(500)
      await rest()
    }
  }

  commands(): JobCommand[] {
    return this.log.records(names.commands, 0).map(({ value }) => codecs.command.decode(value as Buffer) as JobCommand)
  }
  keys(): string[] {
    return this.log.records(names.commands, 0).map(({ key }) => String(key))
  }
}

export const away = () => new DuelogError('not-ready', 'The owner moves.')
