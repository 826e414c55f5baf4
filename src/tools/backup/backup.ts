/**
 * `duelog backup` writes what the logs of a system say about its jobs into one file. It contacts no owner and writes no record, and the
 * system may run meanwhile. `duelog reshard` does so with a stopped system, fences it, and restores the file into topics of another
 * prefix.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { DuelogError } from '../../ground/errors/index.ts'
import type { LogAdmin } from '../../ground/ports/index.ts'
import { version } from '../../ground/process/index.ts'
import { type Cluster, type ClusterOptions, clusterOf, plansOf, topicPrefixDefault } from '../../log/cluster/index.ts'
import { ownSchemas } from '../../log/kafka/index.ts'
import { BackupWriter } from './backup-file.ts'
import { type BackupHeader, checkFree, type Place } from './backup-header.ts'
import { checkStopped, retire } from './fence.ts'
import { type LoggedSystem, readSystem } from './logged-system.ts'
import { checkTarget, type RestoreOptions, type RestoreResult, restore } from './restore.ts'
import { Scratch } from './scratch.ts'
import { type BackupCounts, Writing } from './writing.ts'

export interface BackupOptions {
  cluster: ClusterOptions
  /** It must not exist. */
  file: string
  /** Folder for temporary files of about the size of all definitions and states. Default: that of the file. */
  workFolder?: string | undefined
  onProgress(done: number, total: number, what: 'read' | 'written'): void
  signal: AbortSignal
}

export interface BackupResult {
  counts: BackupCounts
  bytes: number
  partitions: number
  /** Whether schedulers ran meanwhile. */
  live: boolean
  tookMs: number
}

/** Transactions that have ended reach each log within this time, also after the loss of a broker. */
const settledMsMax = 60_000
const settledCheckMs = 200

export async function backup(options: BackupOptions): Promise<BackupResult> {
  const { cluster: clusterOptions, file, workFolder = dirname(file), onProgress, signal } = options
  const startedAt = performance.now()
  await checkFree(file)
  const cluster = clusterOf(clusterOptions)
  const { log, names } = cluster
  const pools = await poolsOf(cluster, clusterOptions)
  const codecs = await cluster.openReadingCodecs(pools)
  const admin = await log.admin()
  const scratch = await Scratch.open(workFolder)
  try {
    const live = (await admin.groupMembers(names.group('scheduler'))).length > 0
    if (!live) await untilSettled(admin, [names.jobs, names.state, names.commands, names.events], signal)
    const system = await readSystem({
      cluster,
      codecs,
      scratch,
      signal,
      intakePositions: () => intakeOf(admin, names, signal),
      onProgress: (done, total) => onProgress(done, total, 'read'),
    })
    const header = {
      ...{
        createdAt: Date.now(),
        duelog: version,
        clusterId: await admin.clusterId(),
        prefix: clusterOptions.topicPrefix ?? topicPrefixDefault,
      },
      ...{ partitions: system.partitions, pools, zoneRules: zoneRulesOf(system), live, schemas: ownSchemas() },
      ...{ ends: system.ends, intake: system.intake },
    }
    const writer = await BackupWriter.create(file, header)
    try {
      const writing = new Writing(writer, codecs, scratch, system)
      const counts = await writing.all((done) => onProgress(done, system.partitions, 'written'), signal)
      return {
        counts,
        bytes: await writer.end(counts),
        partitions: system.partitions,
        live,
        tookMs: performance.now() - startedAt,
      }
    } catch (error) {
      await writer.abandon()
      throw error
    }
  } finally {
    await scratch.close()
    await admin.close()
  }
}

async function poolsOf({ log, names }: Cluster, { brokers, topicPrefix }: ClusterOptions): Promise<string[]> {
  const all = await log.topics()
  const needed = [names.jobs, names.state, names.commands, names.events, names.pauses, names.operations]
  const missing = needed.filter((topic) => !all.includes(topic))
  if (missing.length > 0)
    throw new DuelogError(
      'bad-usage',
      `There are no topics ${missing.join(', ')} at ${String(brokers)}; check the brokers and the topic prefix ${topicPrefix}.`,
    )
  const [before = '', after = ''] = names.executions('|', 'NORMAL').split('|')
  return all
    .filter((topic) => topic.startsWith(before) && topic.endsWith(after))
    .map((topic) => topic.slice(before.length, -after.length))
}

/**
 * What the intake of foreign schedules has taken, in all topics that it has ever read. Its records of that are readable when this resolves: its
 * records and its positions are one transaction.
 */
async function intakeOf(admin: LogAdmin, names: Cluster['names'], signal: AbortSignal): Promise<Place[]> {
  const committed = await admin.committedOf(names.group('intake'), [])
  const places = [...committed].flatMap(([topic, partitions]) => partitions.map((position) => ({ topic, ...position })))
  if (places.length > 0) await untilSettled(admin, [names.jobs], signal)
  return places
}

/**
 * A commit is acknowledged before the end of its transaction is in each log. Commits before the call can be read when this resolves.
 * Others may go on writing.
 */
async function untilSettled(admin: LogAdmin, topics: readonly string[], signal: AbortSignal): Promise<void> {
  const until = performance.now() + settledMsMax
  for (const topic of topics) {
    const ends = await admin.highWatermarks?.(topic)
    const isSettled = async (): Promise<boolean> =>
      (await admin.offsets(topic)).every(({ partition, next }) => next >= (ends?.get(partition) ?? 0))
    while (!(await isSettled())) {
      if (performance.now() > until)
        throw new DuelogError(
          'not-ready',
          `A transaction on ${topic} has been open for ${settledMsMax / 1_000} s. Wait until it ends or find its producer (kafka-transactions.sh), and try again.`,
        )
      await wait(settledCheckMs, undefined, { signal })
    }
  }
}

/** The rules of all partitions, if they are the same. */
function zoneRulesOf({ positions, partitions }: LoggedSystem): string {
  const rules = new Set([...positions.values()].map(({ zoneRules }) => zoneRules))
  return positions.size === partitions && rules.size === 1 ? ([...rules][0] ?? '') : ''
}

export interface ReshardOptions extends Omit<RestoreOptions, 'cluster' | 'file' | 'dryRun' | 'onProgress' | 'partitions'> {
  cluster: ClusterOptions
  /** Prefix of the new topics. */
  toPrefix: string
  partitions: number
  /**
   * Topics of foreign schedules by the settings. The intake of the new system continues where that of the old one was, in all topics that it has
   * read; the brokers tell positions only to who may describe the topic, so these are looked up first.
   */
  intakeTopics: readonly string[]
  onProgress(done: number, total: number, what: 'read' | 'written' | 'restored'): void
}

export interface ReshardResult {
  backup: BackupResult
  restore: RestoreResult
  tookMs: number
}

/** Rejects with DuelogError `bad-usage` while schedulers of the old system run. */
export async function reshard({ toPrefix, intakeTopics, onProgress, ...options }: ReshardOptions): Promise<ReshardResult> {
  const { cluster, partitions, signal, workFolder = tmpdir(), pools, retentions } = options
  const startedAt = performance.now()
  if (toPrefix === (cluster.topicPrefix ?? topicPrefixDefault))
    throw new DuelogError('bad-usage', `The new topics need another prefix than ${toPrefix}; give one with --to-prefix.`)
  const old = clusterOf(cluster)
  const target = { ...cluster, topicPrefix: toPrefix }
  await checkNew(target, { pools, retentions, partitions, intakeTopics })
  await fenceOld(old, cluster, toPrefix)
  const folder = await mkdtemp(join(workFolder, 'duelog-reshard-'))
  const file = join(folder, 'system.backup')
  try {
    const made = await backup({ cluster, file, signal, onProgress })
    const progress = (done: number, total: number): void => onProgress(done, total, 'restored')
    const restored = await restore({
      ...options,
      cluster: target,
      partitions,
      file,
      beforeEnd: (header) => checkSame(old, header),
      dryRun: false,
      onProgress: progress,
    })
    return { backup: made, restore: restored, tookMs: performance.now() - startedAt }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Before the long part: the old system stands still meanwhile. */
async function checkNew(
  options: ClusterOptions,
  { pools, retentions, partitions, intakeTopics }: Pick<ReshardOptions, 'pools' | 'retentions' | 'partitions' | 'intakeTopics'>,
): Promise<void> {
  const cluster = clusterOf(options)
  const admin = await cluster.log.admin()
  try {
    for (const topic of intakeTopics) await admin.offsets(topic)
    await checkTarget({ cluster, admin, options, plans: plansOf(cluster.names, pools, retentions), partitions })
  } finally {
    await admin.close()
  }
}

/** Decisions of an owner after the backup would happen in both systems. A suspended owner is in no group, and is fenced all the same. */
async function fenceOld(old: Cluster, options: ClusterOptions, toPrefix: string): Promise<void> {
  const admin = await old.log.admin()
  try {
    await checkStopped(old, admin, options.topicPrefix)
    await retire(old, await old.openCodecs([]), admin, toPrefix)
  } finally {
    await admin.close()
  }
}

/** Somebody may have lifted the fence meanwhile: what an owner decided then is not in the copy, and the new system would decide it again. */
async function checkSame({ log, names }: Cluster, { ends }: BackupHeader): Promise<void> {
  const admin = await log.admin()
  try {
    const now = new Map((await admin.offsets(names.state)).map(({ partition, next }) => [partition, next]))
    const other = ends.find(({ topic, partition, offset }) => topic === names.state && now.get(partition) !== offset)
    if (other === undefined) return
    throw new DuelogError(
      'bad-usage',
      `A scheduler of the old system has run meanwhile: ${names.state}/${other.partition} ended at ${other.offset}, and ends at ${now.get(other.partition)}. Stop all schedulers.`,
    )
  } finally {
    await admin.close()
  }
}
