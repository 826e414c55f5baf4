/**
 * Scheduled messages of Karafka Pro. The envelope's key is the schedule's id and its value the payload; headers give the time and
 * the target. Like the original, the sent record keeps all headers, and has four more that name its origin.
 */
import { replyHeaders } from '../jobs/index.ts'
import {
  type ForeignRecord,
  headersWithout,
  jobIdOf,
  msOfEpochSeconds,
  noJobId,
  oneRecordAt,
  type Translation,
} from './foreign.ts'

const names = {
  version: 'schedule_schema_version',
  type: 'schedule_source_type',
  epoch: 'schedule_target_epoch',
  topic: 'schedule_target_topic',
  key: 'schedule_target_key',
  partition: 'schedule_target_partition',
  partitionKey: 'schedule_target_partition_key',
} as const
const added = {
  topic: 'schedule_source_topic',
  partition: 'schedule_source_partition',
  offset: 'schedule_source_offset',
  key: 'schedule_source_key',
} as const
const replies: ReadonlySet<string> = new Set(Object.values(replyHeaders))
/** The only major version of the envelope that exists. */
const knownVersion = /^1\./

export function fromKarafka(record: ForeignRecord): Translation {
  const { key, headers, topic, partition, offset } = record
  const jobId = jobIdOf(record)
  if (jobId === undefined) return { kind: 'refused', jobId: '', reason: noJobId }
  const refused = (reason: string): Translation => ({ kind: 'refused', jobId, reason })
  if (key === null || key.length === 0) return refused('A scheduled message must have a key, and this one has none.')
  const version = headers[names.version]?.toString() ?? ''
  if (!knownVersion.test(version)) return refused(`The header ${names.version} is "${version.slice(0, 20)}"; known is 1.x.`)
  const type = headers[names.type]?.toString()
  // Karafka's own dispatcher writes a tombstone when the message was sent.
  if (type === 'cancel' || type === 'tombstone') return { kind: 'deletion', jobId }
  if (type !== 'schedule') return refused(`The header ${names.type} must be schedule, cancel or tombstone.`)
  const at = msOfEpochSeconds(names.epoch, headers[names.epoch])
  if ('problem' in at) return refused(at.problem)
  const place = placeOf(headers)
  if (typeof place === 'string') return refused(place)
  return oneRecordAt(record, jobId, at.ms, place, record.value, {
    ...headersWithout(headers, replies),
    [added.topic]: Buffer.from(topic),
    [added.partition]: Buffer.from(String(partition)),
    [added.offset]: Buffer.from(String(offset)),
    [added.key]: key,
  })
}

/** The target, or the reason why it cannot be determined. */
function placeOf(headers: ForeignRecord['headers']): { name: string; key: Buffer | null; partition: number | null } | string {
  const name = headers[names.topic]?.toString() ?? ''
  if (name === '') return `The header ${names.topic} is missing.`
  const partition = headers[names.partition]?.toString()
  if (partition !== undefined && !/^\d{1,7}$/.test(partition)) return `The header ${names.partition} must be a number.`
  // The partition depends on the producer's partitioner, which the record does not name.
  if (partition === undefined && headers[names.partitionKey] !== undefined)
    return `The header ${names.partitionKey} is not supported; set a key or a partition.`
  return { name, key: headers[names.key] ?? null, partition: partition === undefined ? null : Number(partition) }
}
