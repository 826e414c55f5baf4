/** What a member of a group tells the others at each join: JSON in its metadata, shown by describeGroups to anybody. */
import { settingsSchema as settings } from '../../../schemas/index.ts'
import type { GroupReaderOptions } from '../../ports/index.ts'
import { bitsOf } from './partition-bits.ts'

/** The highest number counts of those that members want: one that is not ours could have everybody follow everything. */
const wantedMax = settings.properties.DUELOG_STANDBYS.maximum

/** What a member that can be a standby tells of it. */
export interface StandbyUserData {
  /** Standbys that each partition is to have. */
  wanted: number
  /** Topics that a standby reads; the owner reads all. */
  topics: string[]
  /** Partition numbers it followed until now. */
  following: number[]
  /** Partition numbers it has locally, and how far. */
  copies: [partition: number, offset: number][]
  /** Absent: it is of an earlier version, which does not say whether it is warm. */
  warmth?: WarmthUserData
}

/** How a member tells where it is warm, and is told where it is awaited (warm-assignment.ts). */
export interface WarmthUserData {
  /** It is assigned this topic, besides those of a standby, where it is awaited. */
  topic: string
  /** Partitions that it fires, or could fire at once (partition-bits.ts). */
  warm: string
}

/** What a member tells the group at each join. */
export interface MemberUserData {
  instance: string
  userData: unknown
  /** Partition numbers it read until now. */
  owned: number[]
  generation: number
  /** It goes on with what it has until others have taken it over, and wants nothing more. */
  leaving?: true
  /** It leaves so for its own good and not for an end: what it fires it fires until another is warm. With `leaving`, for earlier versions. */
  yields?: true
  /** Absent: it knows no standbys. */
  standby?: StandbyUserData
}

export function userDataOf(
  { instance, userData, standbys, isLeaving, isYielding }: GroupReaderOptions & { isYielding?: () => boolean },
  assigned: ReadonlyMap<string, readonly number[]>,
  generation: number,
): MemberUserData {
  const owned = new Set<number>()
  const followed = new Set<number>()
  for (const [topic, partitions] of assigned) {
    if (topic === standbys?.warmth?.topic) continue
    for (const partition of partitions) (standbys?.topics.includes(topic) ? followed : owned).add(partition)
  }
  const ends = isLeaving?.() === true
  const yields = !ends && isYielding?.() === true
  const leaving = (ends || yields) && { leaving: true as const, ...(yields && { yields }) }
  const note = { instance, userData: userData?.() ?? null, owned: [...owned], generation, ...leaving }
  if (standbys === undefined) return note
  const { wanted, topics, copies, warmth } = standbys
  const following = [...followed].filter((partition) => !owned.has(partition))
  const told = warmth && { warmth: { topic: warmth.topic, warm: bitsOf(warmth.warm()) } }
  return { ...note, standby: { wanted, topics, following, copies: copies(), ...told } }
}

/** Never fails: a member of another program has a note that says nothing. */
export function readUserData(memberId: string, bytes: Buffer | undefined): MemberUserData {
  const nothing: MemberUserData = { instance: memberId, userData: null, owned: [], generation: 0 }
  try {
    const note = JSON.parse(bytes?.toString() ?? '') as Partial<MemberUserData>
    return {
      instance: typeof note.instance === 'string' ? note.instance : memberId,
      userData: note.userData ?? null,
      owned: Array.isArray(note.owned) ? note.owned.filter(Number.isSafeInteger) : [],
      generation: Number(note.generation) || 0,
      ...(note.leaving === true && { leaving: true, ...(note.yields === true && { yields: true }) }),
      ...(isStandbyNote(note.standby) && { standby: { ...note.standby, wanted: Math.min(note.standby.wanted, wantedMax) } }),
    }
  } catch {
    return nothing
  }
}

function isStandbyNote(note: Partial<StandbyUserData> | undefined): note is StandbyUserData {
  if (typeof note !== 'object' || note === null) return false
  const { wanted, topics, following, copies, warmth } = note
  return (
    Number.isInteger(wanted) &&
    [topics, following, copies].every(Array.isArray) &&
    (following as unknown[]).every(Number.isInteger) &&
    (copies as unknown[]).every((copy) => Array.isArray(copy) && copy.every(Number.isInteger)) &&
    (warmth === undefined || (typeof warmth?.topic === 'string' && typeof warmth.warm === 'string'))
  )
}
