/**
 * `duelog restore`: writes a backup into topics that hold nothing yet, with any number of partitions. It also is the second half of
 * `duelog reshard`.
 *
 * A marker in job-state keeps owners away from a partition whose restore has not ended (`restoringKey`). Definitions come first in `jobs`,
 * then those that no owner has decided yet; the position, written last, divides them.
 */
import { dirname } from 'node:path'
import type { Retentions } from '../../streams/topics/index.ts'
import { type Cluster, type ClusterOptions, clusterOf, plansOf } from '../cluster/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { LogAdmin } from '../ports/index.ts'
import { checkedBackup } from './backup-file.ts'
import type { BackupHeader } from './backup-header.ts'
import { carryGroup } from './carry.ts'
import { Restoring } from './restoring.ts'
import { Scratch } from './scratch.ts'
import type { BackupCounts } from './writing.ts'

export interface RestoreOptions {
  cluster: ClusterOptions
  file: string
  /** Partitions of the new topics. Default: as many as the backup had. */
  partitions?: number | undefined
  /** Replicas of each partition. */
  replication: number
  /** Pools besides those of the backup. */
  pools: readonly string[]
  retentions: Retentions
  /** Folder for temporary files. Default: that of the file. */
  workFolder?: string | undefined
  /** Reads and checks the file and looks at the target, and writes nothing. */
  dryRun: boolean
  onProgress(done: number, total: number): void
  signal: AbortSignal
}

export interface RestoreResult {
  header: BackupHeader
  counts: BackupCounts
  partitions: number
  /** Records that were written; 0 with a dry run. */
  records: number
  tookMs: number
}

export async function restore(options: RestoreOptions): Promise<RestoreResult> {
  const { cluster: clusterOptions, file, workFolder = dirname(file), replication, retentions, dryRun } = options
  const startedAt = performance.now()
  const { header, counts } = await checkedBackup(file)
  const partitions = options.partitions ?? header.partitions
  const result = { header, counts: counts as unknown as BackupCounts, partitions }
  const cluster = clusterOf(clusterOptions)
  const pools = [...new Set([...options.pools, ...header.pools])]
  const admin = await cluster.log.admin()
  try {
    const plans = plansOf(cluster.names, pools, retentions)
    await checkEmpty(cluster, admin, clusterOptions, plans)
    if (dryRun) return { ...result, records: 0, tookMs: performance.now() - startedAt }
    const made = await cluster.log.ensureTopics({ plans, partitions, replication })
    if (made.partitions !== partitions)
      throw new DuelogError(
        'bad-usage',
        `The topics exist with ${made.partitions} partitions; delete them, or restore to ${made.partitions}.`,
      )
    const codecs = await cluster.openCodecs(pools)
    const scratch = await Scratch.open(workFolder)
    const writer = await cluster.log.writer()
    try {
      const restoring = new Restoring({ options, cluster, codecs, scratch, writer, header, partitions, jobs: result.counts.jobs })
      const records = await restoring.all()
      await checkEnds(admin, cluster, restoring)
      await rememberEnds(admin, cluster, header)
      return { ...result, records, tookMs: performance.now() - startedAt }
    } finally {
      await writer.close()
      await scratch.close()
    }
  } finally {
    await admin.close()
  }
}

/** Throws DuelogError `bad-usage` unless the topics of the target are missing or have never held a record. */
async function checkEmpty(
  { log, names }: Cluster,
  admin: LogAdmin,
  { topicPrefix }: ClusterOptions,
  plans: ReturnType<typeof plansOf>,
): Promise<void> {
  const members = await admin.groupMembers(names.group('scheduler'))
  if (members.length > 0)
    throw new DuelogError(
      'bad-usage',
      `Schedulers run with the prefix ${topicPrefix}: ${members[0]?.instance}. A restore needs topics that nobody uses; stop them, or choose another DUELOG_TOPIC_PREFIX.`,
    )
  const all = new Set(await log.topics())
  // Workers would run old executions, and an audit would judge old records. What workers are told on the control topic has an end.
  for (const { topic } of plans) {
    if (!all.has(topic) || topic === names.control) continue
    const used = (await admin.offsets(topic)).find(({ next }) => next > 0)
    if (used !== undefined)
      throw new DuelogError(
        'bad-usage',
        `${topic} is not empty: partition ${used.partition} ends at offset ${used.next}. A restore needs empty topics; choose another DUELOG_TOPIC_PREFIX, or delete these topics first.`,
      )
  }
}

/** Then `duelog carry` knows which records of the old topics are not in the backup. On another cluster there are no old topics. */
async function rememberEnds(admin: LogAdmin, { log, names }: Cluster, { clusterId, ends }: BackupHeader): Promise<void> {
  const known = new Set(await log.topics())
  const positions = ends.filter(({ topic }) => known.has(topic))
  if (positions.length === 0 || clusterId !== (await admin.clusterId())) return
  const groupId = carryGroup(names)
  const writer = await log.transactionalWriter(groupId)
  try {
    await writer.commit([], { groupId, positions })
  } finally {
    await writer.close()
  }
}

/** Nobody else may have written meanwhile: offsets of definitions are part of the states. */
async function checkEnds(admin: LogAdmin, { names }: Cluster, { ends }: Restoring): Promise<void> {
  for (const { partition, next } of await admin.offsets(names.jobs)) {
    const expected = ends[partition] ?? 0
    if (next < expected)
      throw new DuelogError(
        'internal',
        `${names.jobs}/${partition} ends at ${next}, not at ${expected}. Delete the new topics and restore again.`,
      )
  }
}
