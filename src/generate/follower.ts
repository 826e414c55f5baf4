/** Reads the outcome of a load from the log: executions, events and dead letters, from the end offsets before the first job was sent. */
import { priorities, type TopicNames } from '../../streams/topics/index.ts'
import type { Codecs } from '../kafka/index.ts'
import type { Batch, GroupReader, Log, RecordIn } from '../ports/index.ts'
import type { Tally } from './tally.ts'

export interface FollowerOptions {
  log: Log
  codecs: Codecs
  names: TopicNames
  pool: string
  /** Part of the name of the consumer group. */
  name: string
  tally: Tally
  onError(error: Error): void
}

/** Resolves when the reader is in place, so that it reads the records of all later jobs. The caller stops the reader. */
export async function followLoad(options: FollowerOptions): Promise<GroupReader> {
  const { log, names, pool, name, onError } = options
  const lanes = priorities.flatMap((priority) => [false, true].map((ahead) => names.executions(pool, priority, ahead)))
  const topics = [...lanes, names.events, names.deadLetters]
  const next = new Map<string, { topic: string; partition: number; offset: number }>()
  const admin = await log.admin()
  try {
    for (const topic of topics) {
      for (const { partition, next: offset } of await admin.offsets(topic)) {
        next.set(`${topic}/${partition}`, { topic, partition, offset })
      }
    }
  } finally {
    await admin.close()
  }
  const take = async ({ topic, partition, records }: Batch): Promise<void> => {
    try {
      for (const record of records) {
        if (record.offset < (next.get(`${topic}/${partition}`)?.offset ?? 0)) continue
        await enter(options, record)
        next.set(`${topic}/${partition}`, { topic, partition, offset: record.offset + 1 })
      }
    } catch (error) {
      onError(error as Error)
    }
  }
  const reader = log.reader({
    groupId: names.group(`generate-${name}`),
    instance: 'generate',
    topics,
    onAssigned: () => ({ positions: [...next.values()] }),
    onBatch: take,
    onCrash: onError,
  })
  await reader.start()
  return reader
}

async function enter({ codecs, names, tally }: FollowerOptions, { topic, value }: RecordIn): Promise<void> {
  if (value === null) return
  if (topic === names.events) tally.event(await codecs.event.decode(value))
  else if (topic === names.deadLetters) {
    const { jobId, runNo } = await codecs.deadLetter.decode(value)
    tally.deadLetter(jobId, runNo)
  } else tally.execution(await codecs.execution.decode(value))
}
