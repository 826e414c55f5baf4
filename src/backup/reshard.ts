/**
 * `duelog reshard`: moves a stopped system to topics with another prefix and another number of partitions. It is a backup and its restore; the
 * old topics stay as they are, so the old system can be started again as long as the new one has not been.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, type ClusterOptions, clusterOf } from '../cluster/index.ts'
import { DuelogError } from '../errors/index.ts'
import { type BackupResult, backup } from './backup.ts'
import { type RestoreOptions, type RestoreResult, restore } from './restore.ts'

export interface ReshardOptions extends Omit<RestoreOptions, 'cluster' | 'file' | 'dryRun' | 'onProgress' | 'partitions'> {
  cluster: ClusterOptions
  /** Prefix of the new topics. */
  toPrefix: string
  partitions: number
  /** Topics of foreign schedules: the new system continues where the intake of the old one was. */
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
  const { cluster, partitions, signal, workFolder = tmpdir() } = options
  const startedAt = performance.now()
  if (toPrefix === cluster.topicPrefix)
    throw new DuelogError('bad-usage', `The new topics need another prefix than ${toPrefix}; give one with --to-prefix.`)
  const old = clusterOf(cluster)
  const target = { ...cluster, topicPrefix: toPrefix }
  await checkStopped(old, cluster)
  const folder = await mkdtemp(join(workFolder, 'duelog-reshard-'))
  const file = join(folder, 'system.backup')
  try {
    const made = await backup({ cluster, file, signal, onProgress })
    await checkStopped(old, cluster)
    const progress = (done: number, total: number): void => onProgress(done, total, 'restored')
    const restored = await restore({ ...options, cluster: target, partitions, file, dryRun: false, onProgress: progress })
    await moveIntake(old, clusterOf(target), intakeTopics)
    return { backup: made, restore: restored, tookMs: performance.now() - startedAt }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What an owner decides after the backup would happen in both systems. */
async function checkStopped({ log, names }: Cluster, { topicPrefix }: ClusterOptions): Promise<void> {
  const admin = await log.admin()
  try {
    const [member] = await admin.groupMembers(names.group('scheduler'))
    if (member === undefined) return
    throw new DuelogError(
      'bad-usage',
      `A scheduler runs with the prefix ${topicPrefix}: ${member.instance}. Stop all schedulers first; a killed one is forgotten after its session timeout, 30 s.`,
    )
  } finally {
    await admin.close()
  }
}

/** The intake of the new system would begin with the first schedule otherwise, and define jobs again that were deleted. */
async function moveIntake(old: Cluster, { log, names }: Cluster, topics: readonly string[]): Promise<void> {
  if (topics.length === 0) return
  const admin = await log.admin()
  try {
    const groupId = names.group('intake')
    const positions = []
    for (const topic of topics)
      for (const position of await admin.committed(old.names.group('intake'), topic)) positions.push({ topic, ...position })
    const writer = await log.transactionalWriter(names.group('carried'))
    try {
      if (positions.length > 0) await writer.commit([], { groupId, positions })
    } finally {
      await writer.close()
    }
  } finally {
    await admin.close()
  }
}
