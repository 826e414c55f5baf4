/** The port to the simulated log: groups that keep positions, and transactions that carry them. */
import { markHeader } from '../../../streams/topics/index.ts'
import { type GuardedClock, waitFor } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type {
  GroupPositions,
  Log,
  LogAdmin,
  OffsetRange,
  Position,
  RecordOut,
  TopicPartition,
  TransactionalWriter,
} from '../../ground/ports/index.ts'
import type { Chance } from './chance.ts'
import { Group } from './group.ts'
import type { Io, Machine } from './io.ts'
import type { VirtualTime } from './manual-clock.ts'
import { Member } from './member.ts'
import type { MemoryLog } from './memory-log.ts'

/** The brokers of a simulation. */
export interface Brokers {
  time: VirtualTime
  log: MemoryLog
  io: Io
  chance: Chance
  /** All groups of its members. */
  groups: Set<Group>
  clusterId: string
  /** Share of commits whose answer is lost, and of other writes that fail. */
  lossiness: number
  /** How long each commit takes. */
  slowMs: number
  /** Whether brokers have no room for non-transactional writes. Owners' transactions go to other brokers. */
  isFull: boolean
  /** A broker's clock minus true time, in ms, by its number; partition p is led by broker p modulo their number. Default: one broker, 0. */
  brokerSkewsMs?: number[]
}

const lost = (what: string): Error => new DuelogError('broker-unavailable', `The answer to ${what} was lost.`)

/** A group whose members commit their positions. */
export class KeepingGroup extends Group {
  readonly id: string
  readonly #brokers: Brokers
  readonly #positions = new Map<string, Position>()

  constructor(brokers: Brokers, id: string) {
    super(brokers.log, brokers.io, brokers.chance, 'owners')
    this.id = id
    this.#brokers = brokers
  }

  committed({ topic, partition }: TopicPartition): Position | undefined {
    return this.#positions.get(`${topic}/${partition}`)
  }

  put(position: Position): void {
    this.#positions.set(`${position.topic}/${position.partition}`, position)
  }

  /** A position beyond the end of its log is not valid: readers then begin at the earliest record. */
  override positionOf(place: TopicPartition): number {
    const { earliest, next } = this.log.at(place.topic, place.partition)
    const position = this.committed(place)?.offset ?? 0
    return position > next ? earliest : position
  }

  override readonly keep = (member: Member, positions: readonly Position[]): void => {
    const { chance, lossiness } = this.#brokers
    if (!member.current) throw new DuelogError('not-ready', 'The group has assigned its partitions again.')
    if (chance.happens(lossiness)) throw lost('a commit of positions that did not arrive')
    for (const position of positions) this.put(position)
    if (chance.happens(lossiness)) throw lost('a commit of positions')
  }
}

/**
 * `groups`: the groups of all these processes, by id. `joined` is called with each new reader, `written` with the number of
 * records of each write, `appended` with the answers of brokers that say the time.
 */
export function simulatedLog(
  brokers: Brokers,
  machine: Machine,
  groups: Map<string, KeepingGroup>,
  joined: (member: Member) => void,
  written: (records: number) => void,
  appended: GuardedClock['appended'],
): Log {
  const { log, io, chance } = brokers
  const groupOf = (id: string): KeepingGroup => {
    const known = groups.get(id)
    if (known !== undefined) return known
    const made = new KeepingGroup(brokers, id)
    groups.set(id, made)
    brokers.groups.add(made)
    return made
  }
  const ask = <T>(name: string, answer: () => T): Promise<T> =>
    io.submit(machine, name, () => {
      if (chance.happens(brokers.lossiness)) throw lost(name)
      return answer()
    })
  const partitions = Array.from({ length: log.partitions }, (_, partition) => partition)
  const rangesOf = (topic: string) => partitions.map((partition) => rangeAt(log, topic, partition))
  const committedOf = (groupId: string, topic: string) =>
    partitions.flatMap((partition) => {
      const position = groupOf(groupId).committed({ topic, partition })
      return position === undefined ? [] : [position]
    })
  return {
    reader(options) {
      const group = groupOf(options.groupId)
      if (options.assignment === 'open') group.shareByRule()
      const member = new Member(machine, group, options)
      joined(member)
      return member
    },
    writer: async () => ({
      write: (records) => {
        const sentMs = machine.clock.steadyMs()
        return io.submit(machine, 'writes', () => {
          if (chance.happens(brokers.lossiness) || brokers.isFull) throw lost('a write that did not arrive')
          const offsets = log.append(records)
          if (!records.some(({ headers }) => headers?.[markHeader] !== undefined)) written(records.length)
          tellTime(brokers, appended, machine, records, sentMs)
          if (chance.happens(brokers.lossiness)) throw lost('a write')
          return offsets
        })
      },
      close: async () => {},
    }),
    transactionalWriter: async (id, { mayFence } = {}) => {
      await mayFence?.()
      return transactionalWriter(brokers, machine, id, groupOf, written)
    },
    admin: async (): Promise<LogAdmin> => ({
      offsets: (topic) => ask(`asks for the offsets of ${topic}`, () => rangesOf(topic)),
      offsetsOf: (topics) =>
        ask(`asks for the offsets of ${topics.length} topics`, () => new Map(topics.map((topic) => [topic, rangesOf(topic)]))),
      clusterId: async () => brokers.clusterId,
      committed: (groupId, topic) => ask(`asks for the positions of ${groupId}`, () => committedOf(groupId, topic)),
      committedOf: (groupId, topics) =>
        ask(`asks for the positions of ${groupId}`, () => new Map(topics.map((topic) => [topic, committedOf(groupId, topic)]))),
      groupMembers: (groupId) =>
        ask(`asks for the members of ${groupId}`, () =>
          [...groupOf(groupId).members].map(({ instance, userData, assigned }, index) => {
            return { memberId: String(index), instance, userData, assigned }
          }),
        ),
      groups: async (prefix) =>
        [...groups.values()].flatMap(({ id, members }) => (id.startsWith(prefix) && members.size > 0 ? id : [])),
      close: async () => {},
    }),
  }
}

function rangeAt(log: MemoryLog, topic: string, partition: number): OffsetRange {
  const { earliest, stableEnd } = log.at(topic, partition)
  return { partition, earliest, next: stableEnd }
}

/** Reports the time of the broker, as brokers do for topics that store the append time. */
export function tellTime(
  { time, brokerSkewsMs = [0] }: Pick<Brokers, 'time' | 'brokerSkewsMs'>,
  appended: GuardedClock['appended'],
  machine: Machine,
  records: readonly RecordOut[],
  sentMs: number,
): void {
  for (const broker of new Set(records.map(({ partition = 0 }) => partition % brokerSkewsMs.length))) {
    const brokerMs = time.nowMs + (brokerSkewsMs[broker] ?? 0)
    appended({ source: `broker ${broker}`, sentMs, receivedMs: machine.clock.steadyMs(), brokerMs })
  }
}

async function transactionalWriter(
  brokers: Brokers,
  machine: Machine,
  id: string,
  groupOf: (id: string) => KeepingGroup,
  written: (records: number) => void,
): Promise<TransactionalWriter> {
  const { log, io, chance } = brokers
  const isLost = (): boolean => chance.happens(brokers.lossiness)
  const epoch = await io.submit(machine, `fences ${id}`, () => {
    if (isLost()) throw lost('a fence')
    return log.fence(id)
  })
  let finished = false
  return {
    async commit(records, group?: GroupPositions) {
      if (finished) throw new Error('The writer is finished.')
      finished = true
      const offsets = await io.submit(machine, 'sends a transaction', () => log.append(records, log.begin(id, epoch)))
      if (brokers.slowMs > 0) await waitFor(brokers.slowMs, machine.clock)
      await io.submit(machine, 'commits', () => {
        if (isLost()) throw lost('a commit that did not arrive')
        log.commit(id, epoch)
        written(records.length)
        for (const position of group?.positions ?? []) groupOf(group?.groupId ?? '').put(position)
        if (isLost()) throw lost('a commit')
      })
      finished = false
      return offsets
    },
    close: async () => {},
  }
}
