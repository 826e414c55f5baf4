/**
 * Reads the logs of a system to their ends and sorts what they say by job: first job-state, then the inputs. So all that a state of any
 * partition has sent to another partition is among the inputs that are read.
 */
import type { Position } from '../../../schemas/index.ts'
import { validateJobId } from '../../../streams/definitions/index.ts'
import { sourceHeader, sourceOf } from '../../../streams/jobs/index.ts'
import { jobIdOfKey, movedKey, ownerKey, positionKey, prefix, restoringKey } from '../../../streams/state/index.ts'
import { markHeader, movedHeader, partitionOf } from '../../../streams/topics/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { RecordIn } from '../../ground/ports/index.ts'
import type { Cluster } from '../../log/cluster/index.ts'
import type { Codecs } from '../../log/kafka/index.ts'
import type { Place } from './backup-header.ts'
import { offsetKey, packed, parts, type Scratch } from './scratch.ts'

const none = Buffer.alloc(0)
type Span = Awaited<ReturnType<Cluster['log']['readToEnd']>>[number]

/** A record of `jobs`, `job-commands` or `execution-events` in the scratch store. */
export interface PackedInput {
  timestampMs: number
  decided: boolean
  value: Uint8Array | null
  headers: Record<string, Uint8Array>
}

export interface LoggedSystem {
  partitions: number
  /** The last committed position of each partition; a partition that no owner had has none. */
  positions: Map<number, Position>
  /** Ends of `job-state`, `jobs` and `job-commands`, up to which they were read. */
  ends: Place[]
  /** Where the read of each partition of `jobs` ended. */
  jobsEnds: Map<number, number>
  /** The earliest time in `job-state`, epoch ms. Records that were appended before it are from an earlier log, which was restored. */
  sinceMs: number
  /** Positions of the intake in foreign topics. */
  intake: Place[]
  /** Latest records of `pauses` by key; those of `operations`, as far as all that they say was done is in the states. */
  pauses: Map<string, Buffer>
  operations: Map<string, Buffer>
  unreadable: number
  /** Partitions whose restore has begun and has not ended. */
  unfinished: Set<number>
}

interface ReadOptions {
  cluster: Pick<Cluster, 'log' | 'names'>
  codecs: Codecs
  scratch: Scratch
  /**
   * Positions of the intake in foreign topics. Its records of what lies before them can be read when this resolves. Default: there is
   * no intake.
   */
  intakePositions?: () => Promise<Place[]>
  onProgress(done: number, total: number): void
  signal: AbortSignal
}

/** Each reads what was written during the one before it. */
const stateReadsMax = 20

/** Most records of the topics `pauses` and `operations` that count, by key. Duelog keeps fewer; any client may write there. */
const smallRecordsMax = 20_000

export async function readSystem(options: ReadOptions): Promise<LoggedSystem> {
  const { cluster, scratch, onProgress, signal, intakePositions = async () => [] } = options
  const { log, names } = cluster
  const system: LoggedSystem = {
    partitions: 0,
    positions: new Map(),
    ends: [],
    jobsEnds: new Map(),
    sinceMs: Number.POSITIVE_INFINITY,
    intake: [],
    pauses: new Map(),
    operations: new Map(),
    unreadable: 0,
    unfinished: new Set(),
  }
  const read = { onProgress, signal, onUnread: () => void system.unreadable++ }
  // A later progress may count jobs whose states of before the change are copied. Of operations that came later, the requests count.
  await log.readToEnd({ ...read, topics: [names.operations], onRecord: (record) => putSmall(record, system.operations) })
  const states = await readState(options, { ...read, onRecord: (record) => putState(record, options, system) })
  system.partitions = states.length
  if (system.unfinished.size > 0)
    throw new DuelogError(
      'bad-usage',
      `A restore into ${names.state} has begun and has not ended, so a part of the jobs is missing there. Wait until it ends; if it was broken off, delete its topics and restore again.`,
    )
  system.intake = await intakePositions()
  const isLeft = leftToIntake(system.intake)
  const begin = new Map<string, number>()
  for (const [partition, { commandsOffset, eventsOffset }] of system.positions) {
    begin.set(`${names.commands}/${partition}`, commandsOffset)
    begin.set(`${names.events}/${partition}`, eventsOffset)
  }
  const inputs = await log.readToEnd({
    ...read,
    topics: [names.jobs, names.commands, names.events, names.pauses, names.operations],
    begin,
    onRecord: (record) => {
      if (record.topic === names.pauses) return putSmall(record, system.pauses)
      if (record.topic === names.operations) return isRequest(record) ? putSmall(record, system.operations) : undefined
      return isLeft(record, system) ? undefined : putInput(record, cluster, scratch, system)
    },
  })
  const ends = [...states, ...inputs].map(({ topic, partition, to }) => ({ topic, partition, offset: to }))
  checkEnds(system.positions, ends, names)
  for (const { topic, partition, to } of inputs) if (topic === names.jobs) system.jobsEnds.set(partition, to)
  system.ends = ends.filter(({ topic }) => [names.state, names.jobs, names.commands].includes(topic))
  await scratch.flush()
  return system
}

/**
 * Whether the intake takes the foreign record again from which this record of `jobs` was made. Then it is not part of the copy. Which of these
 * records a read meets while the intake writes is chance, as it writes to all partitions in one transaction.
 */
function leftToIntake(positions: readonly Place[]): (record: RecordIn, system: LoggedSystem) => boolean {
  const next = new Map(positions.map((place) => [placeOf(place), place.offset]))
  return ({ headers, partition, offset }, system) => {
    const source = sourceOf(headers[sourceHeader])
    const from = source && next.get(placeOf(source))
    return from !== undefined && source !== undefined && source.offset >= from && !isDecided(system, partition, offset)
  }
}

const placeOf = ({ topic, partition }: Omit<Place, 'offset'>): string => `${topic}/${partition}`
const isDecided = ({ positions }: LoggedSystem, partition: number, offset: number): boolean =>
  offset < (positions.get(partition)?.jobsOffset ?? 0)

/**
 * What a state depends on was readable when it was written. A new leader may hide the end of its log until a follower has it, and a log may
 * have lost its end: a copy would lack definitions, commands or reports without a sign.
 */
function checkEnds(positions: LoggedSystem['positions'], ends: readonly Place[], names: Cluster['names']): void {
  const endOf = new Map(ends.map((end) => [placeOf(end), end.offset]))
  for (const [partition, { jobsOffset, commandsOffset, eventsOffset }] of positions)
    for (const [topic, offset] of [
      [names.jobs, jobsOffset],
      [names.commands, commandsOffset],
      [names.events, eventsOffset],
    ] as const) {
      const end = endOf.get(placeOf({ topic, partition })) ?? 0
      if (end < offset)
        throw new DuelogError(
          'not-ready',
          `${topic}/${partition} ends at ${end}, and the owner has read it up to ${offset}. Its leader waits for other brokers, or the log has lost its end. Try again when all brokers run; if it stays, start a scheduler: it takes note of what was lost, and a backup is possible again.`,
        )
    }
}

/**
 * Resolves with what was read of each partition. While owners write, compaction removes an entry before the end of a read when a later one
 * follows behind that end: the job would seem to have no state, and would begin anew. So what was written meanwhile is read too, until nothing
 * is missing in a partition. From then on it stays as it is: its states and its position belong together.
 */
async function readState(
  { cluster: { log, names } }: ReadOptions,
  { onRecord, ...read }: Omit<Parameters<Cluster['log']['readToEnd']>[0], 'topics'>,
): ReturnType<Cluster['log']['readToEnd']> {
  const complete = new Map<number, Span>()
  let begin: Map<string, number> | undefined
  for (let left = stateReadsMax; left > 0; left--) {
    const passes = new Map<number, StatePass>()
    const take = (record: RecordIn): void | Promise<void> => {
      if (complete.has(record.partition)) return
      const pass = passes.get(record.partition) ?? new StatePass()
      passes.set(record.partition, pass)
      pass.take(record)
      return onRecord(record)
    }
    const spans = await log.readToEnd({ ...read, topics: [names.state], begin, onRecord: take })
    for (const span of spans)
      if (!complete.has(span.partition) && (span.from >= span.to || passes.get(span.partition)?.isWhole(span) === true))
        complete.set(span.partition, span)
    if (complete.size === spans.length) return [...complete.values()].sort((one, other) => one.partition - other.partition)
    begin = new Map(spans.map((span) => [placeOf(span), span.to]))
  }
  throw new DuelogError(
    'not-ready',
    `Schedulers write ${names.state}, and the brokers compact it, faster than this process reads it: ${stateReadsMax} reads were not enough. Try again at a quieter time, or stop them first.`,
  )
}

async function putState(
  { key, value, partition, timestampMs }: RecordIn,
  { codecs, scratch }: ReadOptions,
  system: LoggedSystem,
): Promise<void> {
  system.sinceMs = Math.min(system.sinceMs, timestampMs)
  if (key === null) return
  switch (key[0]) {
    case prefix.meta:
      if (key.equals(restoringKey)) return void system.unfinished[value === null ? 'delete' : 'add'](partition)
      if (!key.equals(positionKey) || value === null) return
      return void system.positions.set(partition, positionOf(await codecs.state.decode(value)))
    case prefix.state:
      return scratch.putPart(partition, key.subarray(1), parts.state, none, value)
    case prefix.run:
      return scratch.putPart(partition, jobIdOfKey(key), parts.run, key.subarray(-1), value)
    case prefix.snapshot:
      return scratch.putPart(partition, jobIdOfKey(key), parts.snapshot, key.subarray(-8), value)
    case prefix.followUps:
      return scratch.putPart(partition, jobIdOfKey(key), parts.followUps, key.subarray(-8), value)
    case prefix.starts:
      return scratch.putNamed(partition, key.subarray(1), none, value)
    default:
      // Slots are counted again from the states.
      return
  }
}

function positionOf({ position }: { position: Position | null }): Position {
  if (position === null)
    throw new DuelogError('undecodable', 'A position in job-state has no value of its kind. Find out who wrote it.')
  return position
}

/** Positions cover records of other partitions only when they were moved, so these are skipped. */
async function putInput(
  record: RecordIn,
  { names }: ReadOptions['cluster'],
  scratch: Scratch,
  system: LoggedSystem,
): Promise<void> {
  const { topic, partition, offset, timestampMs, key, value, headers } = record
  if (key === null || headers[markHeader] !== undefined || validateJobId(key) !== undefined) return
  const part = topic === names.jobs ? parts.record : topic === names.commands ? parts.command : parts.event
  if (part !== parts.record && value === null) return
  const decided = part === parts.record && isDecided(system, partition, offset)
  const own = partitionOf(key, system.partitions)
  if (own !== partition && (decided || headers[movedHeader] !== undefined)) return
  const input: PackedInput = { timestampMs, decided, value, headers }
  // A misplaced record goes to the job that it is about. Its offset is that of another partition, which no rule compares.
  await scratch.putPart(own, key, part, offsetKey(own === partition ? offset : offset + misplacedFrom), packed(input))
}

/** Misplaced records come after the others of their job: an owner would have moved them to the end. */
const misplacedFrom = 2 ** 50

const isRequest = ({ key, value }: RecordIn): boolean => value !== null && key?.toString().endsWith('/request') === true

function putSmall({ key, value }: RecordIn, latest: Map<string, Buffer>): void {
  if (key === null) return
  const name = key.toString()
  latest.delete(name)
  if (value !== null && latest.size < smallRecordsMax) latest.set(name, value)
}

const lastKeys = [positionKey, ownerKey, movedKey, restoringKey]

class StatePass {
  #first: number | undefined
  #next = 0
  #ends = false
  #isGapless = true

  take({ offset, key }: Pick<RecordIn, 'offset' | 'key'>): void {
    if (this.#first === undefined) this.#first = offset
    else if (!this.#reaches(offset)) this.#isGapless = false
    this.#next = offset + 1
    this.#ends = lastKeys.some((last) => key?.equals(last) === true)
  }

  isWhole({ from, to }: { from: number; to: number }): boolean {
    return this.#isGapless && this.#first === from && this.#reaches(to)
  }

  #reaches(offset: number): boolean {
    return offset === this.#next || (this.#ends && offset === this.#next + 1)
  }
}
