/** User data of a group member: JSON that it sends at each join. describeGroups shows it to any client. */
import { settingsSchema as settings } from '../../../../schemas/index.ts'
import type { GroupReaderOptions } from '../../../ground/ports/index.ts'
import { instanceCharsMax } from '../../../ground/process/index.ts'

/**
 * The highest number that a member wants counts. Without a limit, a foreign member could make everyone follow every partition.
 */
const wantedMax = settings.properties.DUELOG_STANDBYS.maximum

/** User data of a member that can be a standby. */
export interface StandbyUserData {
  /** Standbys wanted for each partition. */
  wanted: number
  /** Topics that a standby reads; the owner reads all. */
  topics: string[]
  /** Partitions that it has followed until now. */
  following: number[]
  /** Partitions with a local copy at this member, and the offset of the copy. */
  copies: [partition: number, offset: number][]
  warmth: WarmthUserData
}

/** How a member reports where it is warm, and learns where it is awaited (target-assignment.ts). */
export interface WarmthUserData {
  /** A member is assigned this topic, besides those of a standby, where it is awaited. */
  topic: string
  /** Partitions that it fires, or could fire at once, as bits. */
  warm: string
}

/** User data that a member sends at each join. */
export interface MemberUserData {
  instance: string
  userData: unknown
  /** Partitions that it has read until now, with those that it is giving up. */
  owned: number[]
  generation: number
  /** It commits partitions that it loses, and says by another join that it has done so. Absent: its partitions move at once. */
  cooperative?: true
  /** It keeps its partitions until others have taken them over, and wants no more. */
  leaving?: true
  /** The same, because it is isolated and not because it stops: it continues to fire its partitions until another member is warm. */
  yields?: true
  /** Absent: its group has no standbys, or it is a foreign member. */
  standby?: StandbyUserData
}

/** `revoking`: partitions that the member has lost and not yet given up. */
export function userDataOf(
  { instance, userData, standbys, isLeaving, isYielding, onRevoked }: GroupReaderOptions & { isYielding?: () => boolean },
  assigned: ReadonlyMap<string, readonly number[]>,
  generation: number,
  revoking: Iterable<number> = [],
): MemberUserData {
  const owned = new Set(revoking)
  const followed = new Set<number>()
  for (const [topic, partitions] of assigned) {
    if (topic === standbys?.warmth.topic) continue
    for (const partition of partitions) (standbys?.topics.includes(topic) ? followed : owned).add(partition)
  }
  const leaving = isLeaving?.() === true ? { leaving: true as const } : isYielding?.() === true && { yields: true as const }
  const cooperative = onRevoked !== undefined && { cooperative: true as const }
  const note = { instance, userData: userData?.() ?? null, owned: [...owned], generation, ...cooperative, ...leaving }
  if (standbys === undefined) return note
  const { wanted, topics, copies, warmth } = standbys
  const following = [...followed].filter((partition) => !owned.has(partition))
  const own = { topic: warmth.topic, warm: bitsOf(warmth.warm()) }
  return { ...note, standby: { wanted, topics, following, copies: copies(), warmth: own } }
}

/** Never fails: a member of another program gets empty user data. */
export function readUserData(memberId: string, bytes: Buffer | undefined): MemberUserData {
  const nothing: MemberUserData = { instance: memberId.slice(0, instanceCharsMax), userData: null, owned: [], generation: 0 }
  try {
    const note = JSON.parse(bytes?.toString() ?? '') as Partial<MemberUserData>
    return {
      instance: isInstanceText(note.instance) ? note.instance : nothing.instance,
      userData: note.userData ?? null,
      owned: Array.isArray(note.owned) ? note.owned.filter(isPartition) : [],
      generation: isGeneration(note.generation) ? note.generation : 0,
      ...(note.cooperative === true && { cooperative: true }),
      ...(note.leaving === true && { leaving: true }),
      ...(note.yields === true && { yields: true }),
      ...(isStandbyNote(note.standby) && { standby: { ...note.standby, wanted: Math.min(note.standby.wanted, wantedMax) } }),
    }
  } catch {
    return nothing
  }
}

const isInstanceText = (value: unknown): value is string => typeof value === 'string' && value.length <= instanceCharsMax
/** Kafka counts both as 32 bits with a sign. */
const isGeneration = (value: unknown): value is number => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31
const isPartition = (value: unknown): boolean => isGeneration(value) && value >= 0
/** Far longer than the name of a topic may be. */
const topicCharsMax = 1_000
const isTopicText = (value: unknown): boolean => typeof value === 'string' && value.length <= topicCharsMax

function isStandbyNote(note: Partial<StandbyUserData> | undefined): note is StandbyUserData {
  if (typeof note !== 'object' || note === null) return false
  const { wanted, topics, following, copies, warmth } = note
  return (
    isPartition(wanted) &&
    [topics, following, copies].every(Array.isArray) &&
    (topics as unknown[]).every(isTopicText) &&
    (following as unknown[]).every(isPartition) &&
    (copies as unknown[]).every(isCopy) &&
    isTopicText(warmth?.topic) &&
    typeof warmth?.warm === 'string'
  )
}

const isCopy = (copy: unknown): boolean =>
  Array.isArray(copy) && copy.length === 2 && isPartition(copy[0]) && Number.isSafeInteger(copy[1])

/** Partition numbers as text: one bit each, in base64. A thousand partitions take 172 characters, however many are set. */
export function bitsOf(partitions: readonly number[]): string {
  const bytes = Buffer.alloc(Math.ceil((Math.max(-1, ...partitions) + 1) / 8))
  for (const partition of partitions) bytes[partition >> 3] = (bytes[partition >> 3] ?? 0) | (1 << (partition & 7))
  return bytes.toString('base64')
}

/** Never fails: invalid text gives no partitions, or ones that nobody asks for. */
export function partitionsIn(bits: string): { has(partition: number): boolean } {
  const bytes = Buffer.from(bits, 'base64')
  return { has: (partition) => ((bytes[partition >> 3] ?? 0) & (1 << (partition & 7))) !== 0 }
}
