/**
 * `duelog restore`: writes a backup into topics that hold nothing yet, with any number of partitions. It also is the second half of
 * `duelog reshard`.
 *
 * A marker in job-state keeps owners away from a partition whose restore has not ended (`restoringKey`). Definitions come first in `jobs`,
 * then those that no owner has decided yet; the position, written last, divides them.
 */
import { dirname } from 'node:path'
import { counted } from '../../../streams/text/index.ts'
import { type Retentions, topicNames } from '../../../streams/topics/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { LogAdmin } from '../../ground/ports/index.ts'
import { type Cluster, type ClusterOptions, clusterOf, plansOf } from '../../log/cluster/index.ts'
import { checkedBackup } from './backup-file.ts'
import type { BackupHeader, Place } from './backup-header.ts'
import { carriedTopics, carryGroup } from './carry.ts'
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
  /** Called when all is written, and nobody may use it yet. A rejection ends the restore, which then has to be begun again. */
  beforeEnd?: ((header: BackupHeader) => Promise<void>) | undefined
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
  const { cluster: clusterOptions, file, workFolder = dirname(file), replication, retentions, dryRun, beforeEnd } = options
  const startedAt = performance.now()
  const { header, counts } = await checkedBackup(file, options.signal)
  const partitions = options.partitions ?? header.partitions
  const result = { header, counts: counts as unknown as BackupCounts, partitions }
  const cluster = clusterOf(clusterOptions)
  const pools = [...new Set([...options.pools, ...header.pools])]
  const admin = await cluster.log.admin()
  try {
    const plans = plansOf(cluster.names, pools, retentions)
    await checkTarget({ cluster, admin, options: clusterOptions, plans, partitions })
    if (dryRun) return { ...result, records: 0, tookMs: performance.now() - startedAt }
    const made = await cluster.log.ensureTopics({ plans, partitions, replication })
    if (made.partitions !== partitions)
      throw new DuelogError(
        'bad-usage',
        `Somebody has made the topics meanwhile, with ${made.partitions} partitions; delete them.`,
      )
    const codecs = await cluster.openCodecs(pools)
    const writer = await cluster.log.writer()
    let scratch: Scratch | undefined
    try {
      scratch = await Scratch.open(workFolder)
      const place = { options, cluster, codecs, scratch, writer, header, partitions, nowMs: Date.now }
      const restoring = new Restoring({ ...place, jobs: result.counts.jobs })
      const records = await restoring.all(async () => {
        await checkEnds(admin, cluster, restoring)
        await rememberEnds(admin, cluster, header)
        await beforeEnd?.(header)
      })
      return { ...result, records, tookMs: performance.now() - startedAt }
    } catch (error) {
      throw scratch === undefined ? error : unfinished(error, options)
    } finally {
      await writer.close()
      await scratch?.close()
    }
  } finally {
    await admin.close()
  }
}

/** Written records stay, and the next restore finds them. */
function unfinished(error: unknown, { signal, cluster: { topicPrefix } }: RestoreOptions): DuelogError {
  const code = error instanceof DuelogError ? error.code : 'internal'
  const what = signal.aborted ? 'The restore was stopped.' : messageOf(error)
  const then = `The topics ${topicPrefix}* have a part of it, and no scheduler fires from them. Delete them, and begin again.`
  return new DuelogError(code, `${what} ${then}`, { cause: error })
}

export interface RestoreTarget {
  cluster: Cluster
  admin: LogAdmin
  options: ClusterOptions
  plans: ReturnType<typeof plansOf>
  partitions: number
}

/** Throws DuelogError `bad-usage` unless each topic of the target is missing, or has this number of partitions and has never held a record. */
export async function checkTarget({ cluster, admin, options: { topicPrefix }, plans, partitions }: RestoreTarget): Promise<void> {
  const { log, names } = cluster
  const members = await admin.groupMembers(names.group('scheduler'))
  if (members.length > 0)
    throw new DuelogError(
      'bad-usage',
      `Schedulers run with the prefix ${topicPrefix}: ${members[0]?.instance}. A restore needs topics that nobody uses; stop them, or choose another DUELOG_TOPIC_PREFIX.`,
    )
  const all = new Set(await log.topics())
  // Workers would run old executions, and an audit would judge old records. What workers are told on the control topic has an end.
  for (const { topic } of plans) {
    if (!all.has(topic)) continue
    const found = await admin.offsets(topic)
    if (found.length !== partitions)
      throw new DuelogError(
        'bad-usage',
        `${topic} exists with ${counted(found.length, 'partition')}, and the restore is to ${partitions}. Give --partitions ${found.length}, choose another DUELOG_TOPIC_PREFIX, or delete these topics first.`,
      )
    const used = topic === names.control ? undefined : found.find(({ next }) => next > 0)
    if (used !== undefined)
      throw new DuelogError(
        'bad-usage',
        `${topic} is not empty: partition ${used.partition} ends at offset ${used.next}. A restore needs empty topics; choose another DUELOG_TOPIC_PREFIX, or delete these topics first.`,
      )
  }
}

/**
 * Then `duelog carry` knows which records of the old topics are not in the backup, and the intake continues where that of the old system was;
 * it would begin with the first schedule otherwise, and define jobs again that were deleted. On another cluster there are no old topics.
 */
async function rememberEnds(admin: LogAdmin, { log, names }: Cluster, header: BackupHeader): Promise<void> {
  if (header.clusterId !== (await admin.clusterId())) return
  const carried = new Set(carriedTopics(topicNames(header.prefix)))
  const groups = [
    // Topics that were lost and are restored under their name are not old ones.
    {
      groupId: carryGroup(names),
      places: header.ends.filter(({ topic }) => carried.has(topic) && topic !== names.jobs && topic !== names.commands),
    },
    { groupId: names.group('intake'), places: header.intake ?? [] },
  ]
  const known = await admin.offsetsOf([...new Set(groups.flatMap(({ places }) => places.map(({ topic }) => topic)))])
  const exists = ({ topic, partition }: Place): boolean =>
    known.get(topic)?.some((range) => range.partition === partition) === true
  const writer = await log.transactionalWriter(carryGroup(names))
  try {
    for (const { groupId, places } of groups) {
      const positions = places.filter(exists)
      if (positions.length > 0) await writer.commit([], { groupId, positions })
    }
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
        `${names.jobs}/${partition} ends at ${next}, not at ${expected}: records of the restore were lost.`,
      )
  }
}
