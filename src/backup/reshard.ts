/**
 * `duelog reshard`: moves a stopped system to topics with another prefix and another number of partitions. It is a backup and its restore; the
 * old topics stay as they are but for the marker of the fence (fence.ts), so there is a way back as long as the new system has not been started.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, type ClusterOptions, clusterOf, plansOf, topicPrefixDefault } from '../cluster/index.ts'
import { DuelogError } from '../errors/index.ts'
import { type BackupResult, backup } from './backup.ts'
import type { BackupHeader } from './backup-header.ts'
import { checkStopped, retire } from './fence.ts'
import { checkTarget, type RestoreOptions, type RestoreResult, restore } from './restore.ts'

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

/** What an owner decides after the backup would happen in both systems. One that is suspended is in no group, and is fenced all the same. */
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
