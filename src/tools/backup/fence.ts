/**
 * The fence around a system that is copied or moved. A suspended scheduler is in no group, and would go on where it was when it wakes up. So
 * the transactional id of each owner is taken, which ends what it may commit, and the same transaction writes a marker that every later
 * claim refuses (`src/scheduler/partition/takeover.ts`).
 */
import { movedKey, ownerKey } from '../../../streams/state/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { LogAdmin, RecordIn, RecordOut } from '../../ground/ports/index.ts'
import { zoneRulesVersion } from '../../ground/process/index.ts'
import { type Cluster, type ClusterOptions, clusterOf, topicPrefixDefault } from '../../log/cluster/index.ts'
import type { Codecs } from '../../log/kafka/index.ts'

/** Transactional ids that are taken at once. Each needs a connection to its coordinator. */
const fencesAtOnce = 16

type Fenced = Pick<Cluster, 'log' | 'names'>
type Marker = Pick<RecordOut, 'key' | 'value'>

/** Resolves when no owner from before the call can commit, and each partition of job-state has the marker. */
export async function fence({ log, names }: Fenced, partitions: number, marker: Marker): Promise<void> {
  const one = async (partition: number): Promise<void> => {
    const writer = await log.transactionalWriter(`${names.group('scheduler')}-${partition}`)
    try {
      await writer.commit([{ topic: names.state, partition, ...marker }])
    } finally {
      await writer.close()
    }
  }
  for (let from = 0; from < partitions; from += fencesAtOnce)
    await Promise.all(Array.from({ length: Math.min(fencesAtOnce, partitions - from) }, (_, index) => one(from + index)))
}

/** Owners of this system decide nothing from here on. `toPrefix`: that of the system which goes on instead. */
export async function retire(system: Fenced, codecs: Pick<Codecs, 'state'>, admin: LogAdmin, toPrefix: string): Promise<void> {
  const value = codecs.state.encode({ owner: { instance: toPrefix, claimedAt: Date.now(), zoneRules: zoneRulesVersion } })
  await fence(system, (await admin.offsets(system.names.state)).length, { key: movedKey, value })
}

/** Throws DuelogError `bad-usage` while the group has a member. A suspended one it does not show. */
export async function checkStopped(
  { names }: Pick<Cluster, 'names'>,
  admin: LogAdmin,
  prefix: string | undefined,
): Promise<void> {
  const [member] = await admin.groupMembers(names.group('scheduler'))
  if (member === undefined) return
  throw new DuelogError(
    'bad-usage',
    `A scheduler runs with the prefix ${prefix}: ${member.instance}. Stop all schedulers first; a killed one is forgotten after its session timeout, 30 s.`,
  )
}

export interface UnfenceOptions {
  /** The system that was moved away. */
  cluster: ClusterOptions
  onProgress(done: number, total: number): void
  signal: AbortSignal
}

/**
 * `duelog unfence`: the way back from a reshard. Resolves with the prefix of the system that was to go on instead. That one is fenced first, so
 * never both decide. Rejects with DuelogError `bad-usage` if it has had an owner: what it decided would be decided again.
 */
export async function unfence({ cluster: options, onProgress, signal }: UnfenceOptions): Promise<string> {
  const system = clusterOf(options)
  const prefix = options.topicPrefix ?? topicPrefixDefault
  const admin = await system.log.admin()
  try {
    const codecs = await system.openCodecs([])
    const read = { onProgress, signal }
    const { movedTo } = await ownersOf(system, codecs, read)
    if (movedTo === undefined) throw new DuelogError('bad-usage', `The system ${prefix}* was not moved, so it may run already.`)
    const other = clusterOf({ ...options, topicPrefix: movedTo })
    if ((await other.log.topics()).includes(other.names.state)) {
      await checkStopped(other, admin, movedTo)
      await retire(other, codecs, admin, prefix)
      const { hasOwner } = await ownersOf(other, codecs, read)
      if (hasOwner) {
        await release(other, admin)
        throw new DuelogError(
          'bad-usage',
          `The system ${movedTo}* has run since, and ${prefix}* would do its work again. Reshard that one, or delete its topics if all that it did may be forgotten.`,
        )
      }
    }
    await release(system, admin)
    return movedTo
  } finally {
    await admin.close()
  }
}

async function release(system: Fenced, admin: LogAdmin): Promise<void> {
  await fence(system, (await admin.offsets(system.names.state)).length, { key: movedKey, value: null })
}

/** Where the system was moved to, and whether any process has ever owned a partition of it. */
async function ownersOf(
  { log, names }: Fenced,
  { state }: Pick<Codecs, 'state'>,
  read: Pick<UnfenceOptions, 'onProgress' | 'signal'>,
): Promise<{ movedTo: string | undefined; hasOwner: boolean }> {
  const moved = new Map<number, string>()
  let hasOwner = false
  const onRecord = async ({ key, value, partition }: RecordIn): Promise<void> => {
    if (key?.equals(ownerKey)) hasOwner = true
    if (!key?.equals(movedKey)) return
    const to = value === null ? undefined : (await state.decode(value)).owner?.instance
    if (to === undefined) moved.delete(partition)
    else moved.set(partition, to)
  }
  await log.readToEnd({ ...read, topics: [names.state], onUnread() {}, onRecord })
  return { movedTo: [...moved.values()][0], hasOwner }
}
