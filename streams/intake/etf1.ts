/**
 * Schedules of etf1/kafka-message-scheduler. The record's key is the schedule's id and its value the payload; headers give the
 * time and the target. A null value cancels. Like the original, the sent record has the headers of the schedule without the
 * control headers, and three that name its origin.
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

const names = { epoch: 'scheduler-epoch', targetTopic: 'scheduler-target-topic', targetKey: 'scheduler-target-key' } as const
const added = { timestamp: 'scheduler-timestamp', key: 'scheduler-key', topic: 'scheduler-topic' } as const
const steering: ReadonlySet<string> = new Set([...Object.values(names), ...Object.values(replyHeaders)])

export function fromEtf1(record: ForeignRecord): Translation {
  const { key, value, headers, topic, timestampMs } = record
  const jobId = jobIdOf(record)
  if (jobId === undefined) return { kind: 'refused', jobId: '', reason: noJobId }
  if (value === null) {
    if (key !== null && key.length > 0) return { kind: 'deletion', jobId }
    return { kind: 'refused', jobId, reason: 'A null value cancels a schedule by its key, and this record has none.' }
  }
  const at = msOfEpochSeconds(names.epoch, headers[names.epoch])
  if ('problem' in at) return { kind: 'refused', jobId, reason: at.problem }
  const targetTopic = headers[names.targetTopic]?.toString() ?? ''
  if (targetTopic === '') return { kind: 'refused', jobId, reason: `The header ${names.targetTopic} is missing.` }
  const target = { name: targetTopic, key: headers[names.targetKey] ?? null }
  return oneRecordAt(record, jobId, at.ms, target, value, {
    ...headersWithout(headers, steering),
    [added.timestamp]: Buffer.from(String(Math.floor(timestampMs / 1_000))),
    [added.key]: key ?? Buffer.alloc(0),
    [added.topic]: Buffer.from(topic),
  })
}
