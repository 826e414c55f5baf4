/**
 * `duelog carry`: writes to a restored system what somebody has written to the topics of the old one since the backup. Nothing is lost that a
 * producer sends to the old address, and nothing is written twice: records and the positions of the old topics are one transaction. What an
 * intake of the old system has written since is left out: that of the restored system takes the same foreign records.
 */
import { firstOffset } from '../../../streams/backup/index.ts'
import { validateJobId } from '../../../streams/definitions/index.ts'
import { sourceHeader, sourceOf } from '../../../streams/jobs/index.ts'
import { observedOffsetHeader, onlyOverHeaders, onlyOverOf } from '../../../streams/state/index.ts'
import {
  appendedAtHeader,
  appendedAtOf,
  markHeader,
  movedHeader,
  partitionOf,
  type TopicNames,
  topicNames,
} from '../../../streams/topics/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type {
  Batch,
  GroupReader,
  LogAdmin,
  RecordIn,
  RecordOut,
  TopicPartition,
  TransactionalWriter,
} from '../../ground/ports/index.ts'
import { newInstance } from '../../ground/process/index.ts'
import { type Cluster, type ClusterOptions, clusterOf, topicPrefixDefault } from '../../log/cluster/index.ts'
import { checkStopped, retire } from './fence.ts'

export interface CarryOptions {
  /** The restored system. */
  cluster: ClusterOptions
  /** Prefix of the old topics, on the same cluster. */
  fromPrefix: string
  /** Goes on until the signal. Default: it ends when all is carried over that was there. */
  follow: boolean
  onProgress(carried: number): void
  signal: AbortSignal
}

/** The old topics that producers and API processes write to. */
export const carriedTopics = ({ jobs, commands }: TopicNames): string[] => [jobs, commands]

/** Consumer group, and transactional id, under which a restored system knows how far the old topics are carried over. */
export const carryGroup = (names: TopicNames): string => names.group('carried')

/** Resolves with the number of records. Rejects with DuelogError `bad-usage` if the system was not restored from these topics. */
export async function carry({ cluster, fromPrefix, follow, onProgress, signal }: CarryOptions): Promise<number> {
  const { log, names } = clusterOf(cluster)
  const from = topicNames(fromPrefix)
  const groupId = carryGroup(names)
  const prefix = cluster.topicPrefix ?? topicPrefixDefault
  if (fromPrefix === prefix)
    throw new DuelogError('bad-usage', `The topics ${prefix}* are those of the restored system; give the prefix of the old ones.`)
  const admin = await log.admin()
  let writer: TransactionalWriter | undefined
  let reader: GroupReader | undefined
  try {
    // First it ends the open transaction of a carrier that was killed, so that the positions are final.
    writer = await log.transactionalWriter(groupId)
    const left = await remaining(admin, groupId, from, prefix)
    await fenceOld(clusterOf({ ...cluster, topicPrefix: fromPrefix }), admin, fromPrefix, prefix)
    if (!follow && left.size === 0) return 0
    const partitions = (await admin.offsets(names.jobs)).length
    const taken = new Set((await admin.committedOf(names.group('intake'), [])).keys())
    const target: Target = { writer, groupId, from, to: names, partitions, taken, reached: new Map() }
    const done = Promise.withResolvers<void>()
    let carried = 0
    let turn = Promise.resolve()
    const passed = ({ topic, partition }: TopicPartition, next: number): void => {
      const place = `${topic}/${partition}`
      if (next >= (left.get(place) ?? 0)) left.delete(place)
      if (!follow && left.size === 0) done.resolve()
    }
    reader = log.reader({
      ...{ groupId, topics: carriedTopics(from), instance: newInstance() },
      onAssigned: () => undefined,
      // Batches of several partitions may come at once, and a transaction follows the one before.
      onBatch: (batch) => {
        turn = turn.then(async () => {
          carried += await carryBatch(batch, target)
          onProgress(carried)
          passed(batch, batch.next ?? (batch.records.at(-1)?.offset ?? -1) + 1)
        })
        return turn.catch(done.reject)
      },
      onPassed: ({ offset, ...place }) => passed(place, offset),
      onCrash: done.reject,
    })
    const stop = (): void => done.resolve()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) return 0
    await reader.start()
    await done.promise
    return carried
  } finally {
    await reader?.stop()
    await writer?.close()
    await admin.close()
  }
}

/** Owners of the old topics would decide beside the restored system what it gets from them. */
async function fenceOld(old: Cluster, admin: LogAdmin, fromPrefix: string, prefix: string): Promise<void> {
  await checkStopped(old, admin, fromPrefix)
  await retire(old, await old.openCodecs([]), admin, prefix)
}

interface Target {
  writer: TransactionalWriter
  groupId: string
  from: TopicNames
  to: TopicNames
  /** Of the restored system. */
  partitions: number
  /** Foreign topics whose records the intake of the restored system takes itself. */
  taken: ReadonlySet<string>
  /** Next offset of each place. After a join, the group may give a position of before the last transaction for a moment. */
  reached: Map<string, number>
}

/** One transaction. Resolves with the number of records. */
export async function carryBatch({ topic, partition, records, next }: Batch, target: Target): Promise<number> {
  const { writer, groupId, from, to, partitions, taken, reached } = target
  const place = `${topic}/${partition}`
  const fresh = records.filter((record) => record.offset >= (reached.get(place) ?? 0))
  const out: RecordOut[] = []
  for (const record of fresh) {
    const { key, value, headers } = record
    if (key === null || isOfOwner(record) || validateJobId(key) !== undefined) continue
    if (taken.has(sourceOf(headers[sourceHeader])?.topic ?? '')) continue
    const copy = { key, value, partition: partitionOf(key, partitions) }
    const time = { [appendedAtHeader]: String(appendedAtOf(record)) }
    if (topic === from.jobs) out.push({ topic: to.jobs, ...copy, headers: { ...withoutOffset(headers), ...time } })
    else out.push({ topic: to.commands, ...copy, headers })
  }
  const offset = next ?? (records.at(-1)?.offset ?? -1) + 1
  if (fresh.length > 0) await writer.commit(out, { groupId, positions: [{ topic, partition, offset }] })
  if (fresh.length > 0) reached.set(place, offset)
  return out.length
}

/** Marks, and tombstones that owners write: the restored system has owners of its own. */
const isOfOwner = ({ headers }: RecordIn): boolean =>
  [markHeader, movedHeader, observedOffsetHeader].some((name) => headers[name] !== undefined)

/** A condition over an offset of the old topic cannot hold any more: its writer gets no answer from the old system either. */
function withoutOffset(headers: Record<string, Buffer>): Record<string, Buffer | string> {
  return typeof onlyOverOf(headers) === 'number' ? { ...headers, ...onlyOverHeaders(firstOffset - 1) } : headers
}

/** Ends of the old partitions that are not carried over yet. */
async function remaining(admin: LogAdmin, groupId: string, from: TopicNames, prefix: string): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  for (const topic of carriedTopics(from)) {
    const committed = new Map((await admin.committed(groupId, topic)).map(({ partition, offset }) => [partition, offset]))
    for (const { partition, next } of await admin.offsets(topic)) {
      const offset = committed.get(partition)
      if (offset === undefined)
        throw new DuelogError(
          'bad-usage',
          `The system ${prefix} was not restored from a backup of ${topic} on this cluster, so it does not know from which offset on to carry over.`,
        )
      if (offset < next) ends.set(`${topic}/${partition}`, next)
    }
  }
  return ends
}
