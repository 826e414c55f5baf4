/** Backup, restore, reshard and carry of the logs of a driver, by the parts of src/tools/backup that need no broker. */
import { join } from 'node:path'
import type { RecordIn, RecordOut } from '../../../src/ground/ports/log.ts'
import { codecsOfSchemas, ownSchemas } from '../../../src/log/kafka/avro/codecs.ts'
import { BackupWriter } from '../../../src/tools/backup/backup-file.ts'
import type { BackupHeader } from '../../../src/tools/backup/backup-header.ts'
import { carryBatch } from '../../../src/tools/backup/carry.ts'
import { fence, retire } from '../../../src/tools/backup/fence.ts'
import { readSystem } from '../../../src/tools/backup/logged-system.ts'
import { Restoring } from '../../../src/tools/backup/restoring.ts'
import { Scratch } from '../../../src/tools/backup/scratch.ts'
import { Writing } from '../../../src/tools/backup/writing.ts'
import { movedKey } from '../../../streams/state/keys.ts'
import { SchedulerDriver } from '../../tools/scheduler-driver.ts'
import { codecs, names } from '../world.ts'

const signal = new AbortController().signal
const all = codecsOfSchemas(ownSchemas())
const reading = { ...all, ...codecs, operation: all.operation } as unknown as typeof all

/** What a cluster is for a backup and a restore. `between`: called before a partition is read. */
function clusterOn({ log }: SchedulerDriver, between: () => Promise<void> = async () => {}) {
  const write = async (records: RecordOut[]): Promise<Map<string, number>> => log.append(records)
  return {
    names,
    log: {
      readToEnd: async (options: {
        topics: readonly string[]
        begin?: Map<string, number> | undefined
        onRecord(record: RecordIn): void | Promise<void>
      }) => {
        const spans: { topic: string; partition: number; from: number; to: number }[] = []
        for (const topic of options.topics)
          for (let partition = 0; partition < log.partitions; partition++) {
            await between()
            const place = log.at(topic, partition)
            const from = options.begin?.get(`${topic}/${partition}`) ?? place.earliest
            const { records, next } = place.read(from, Number.POSITIVE_INFINITY)
            for (const record of records) await options.onRecord(record)
            spans.push({ topic, partition, from, to: next })
          }
        return spans
      },
      writer: { write, close: async () => {} },
      transactionalWriter: async (id: string) => {
        const epoch = log.fence(id)
        const commit = async (records: RecordOut[]): Promise<void> => {
          log.append(records, log.begin(id, epoch))
          log.commit(id, epoch)
        }
        return { commit, close: async () => {} }
      },
    },
  }
}

/** Fences the owners of a system, as a reshard does. One that is suspended finds out when it wakes up. */
export async function fenced(system: SchedulerDriver): Promise<void> {
  const admin = { offsets: async () => Array.from({ length: system.log.partitions }) }
  await retire(clusterOn(system) as never, reading, admin as never, 'other.')
}

/** Lifts the fence, so that the next owner may claim. */
export async function released(system: SchedulerDriver): Promise<void> {
  await fence(clusterOn(system) as never, system.log.partitions, { key: movedKey, value: null })
}

/** A system that was restored from another one, and how far the logs of that one are part of it. */
export interface Copy {
  system: SchedulerDriver
  ends: Map<string, number>
}

let files = 0

/** A copy with this number of partitions. `folder`: for the file. `between`: what happens while a running system is read. */
export async function copied(
  from: SchedulerDriver,
  partitions: number,
  folder: string,
  between?: () => Promise<void>,
): Promise<Copy> {
  const file = join(folder, `${files++}.backup`)
  const scratch = await Scratch.open(folder)
  const source = clusterOn(from, between) as never
  const system = await readSystem({ cluster: source, codecs: reading, scratch, signal, onProgress() {} })
  const about = { createdAt: from.time.nowMs, duelog: '0', clusterId: 'here', prefix: 'model.', pools: ['default'] }
  const header: BackupHeader = {
    ...{ ...about, partitions: from.log.partitions, zoneRules: '', live: between !== undefined },
    ...{ ends: system.ends, intake: [], schemas: ownSchemas() },
  }
  const writer = await BackupWriter.create(file, header)
  const counts = await new Writing(writer, reading, scratch, system).all(() => {}, signal)
  await writer.end(counts)
  await scratch.close()
  const to = new SchedulerDriver(partitions)
  to.time.nowMs = from.time.nowMs
  const target = clusterOn(to)
  const second = await Scratch.open(folder)
  const options = { file, signal, onProgress() {} }
  const place = { options, cluster: target as never, codecs: reading, scratch: second, writer: target.log.writer }
  await new Restoring({ ...place, header, partitions, jobs: counts.jobs, nowMs: () => from.time.nowMs }).all()
  await second.close()
  const ends = new Map(system.ends.map(({ topic, partition, offset }) => [`${topic}/${partition}`, offset]))
  return { system: to, ends }
}

/** Carries to the copy what was written to the original since. */
export async function carried(from: SchedulerDriver, { system, ends }: Copy): Promise<void> {
  const writer = { commit: async (records: RecordOut[]) => system.log.append(records), close: async () => {} }
  const target = { writer, groupId: 'carried', from: names, to: names, partitions: system.log.partitions }
  for (const topic of [names.jobs, names.commands])
    for (let partition = 0; partition < from.log.partitions; partition++) {
      const { records, next } = from.log
        .at(topic, partition)
        .read(ends.get(`${topic}/${partition}`) ?? 0, Number.POSITIVE_INFINITY)
      await carryBatch(
        { topic, partition, records, next, highWatermark: next },
        { ...target, taken: new Set(), reached: new Map() },
      )
      ends.set(`${topic}/${partition}`, next)
    }
}
