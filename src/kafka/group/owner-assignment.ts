/** Who gets which partition number. Pure: the same members give the same shares, whoever leads the group. */
import { MinCostAssignment } from './min-cost-assignment.ts'

export interface Claimant {
  memberId: string
  /** Partition numbers it read until now. */
  owned: readonly number[]
  /** Group generation of which it last heard; the later claim of two to one partition is the true one. */
  generation: number
  /** What it has of partitions locally, and how far: the next offset to be read. Default: nothing. */
  copies?: ReadonlyMap<number, number>
  /** Partition numbers it followed until now: its copies of these are up to date, or soon will be. Default: none. */
  following?: readonly number[]
  /** Those that it could fire at once, or fires. Absent: it does not say; then what it follows is taken for up to date. */
  warm?: { has(partition: number): boolean } | undefined
}

/** What it costs that a partition goes from a living owner to another. More than all else together. */
const moveCost = 1e9
/** Who is warm costs nothing, who follows half of this, who has some copy this, who has none twice this; of two the one that is further costs less. */
const coldCost = 1e6

/**
 * Shares the numbers 0…count−1: nobody has more than one more than another, and everybody keeps as much of what he owned as that
 * allows. What has to move, or is free, goes to those who are warm as far as balance allows, else to those who follow it, else to those with
 * a copy, the most advanced first. When it goes there is another question (heirs.ts).
 */
export function assignOwners(count: number, members: readonly Claimant[]): Map<string, number[]> {
  if (members.length === 0) return new Map()
  const sorted = [...members].sort((a, b) => compare(a.memberId, b.memberId))
  const owners = ownersOf(count, sorted)
  const ranks = ranksOf(count, sorted)
  const following = sorted.map((member) => new Set(member.following))
  const cost = (partition: number, bin: number): number => {
    const owner = owners[partition]
    if (owner === bin) return 0
    const move = owner === undefined ? 0 : moveCost
    return (
      move +
      coldness(sorted[bin] as Claimant, partition, following[bin]?.has(partition) === true) +
      (ranks.get(partition)?.get(bin) ?? 0)
    )
  }
  const one = { sources: 1, sourceOf: () => 0, crowdMax: () => Number.POSITIVE_INFINITY }
  const seats = new MinCostAssignment({ bins: sorted.length, taken: sorted.map(() => 0), cost, ...one }, count)
  // Those who owned most keep the larger shares, so that the fewest partitions move.
  const claims: number[][] = sorted.map(() => [])
  for (const [partition, owner] of owners.entries()) if (owner !== undefined) claims[owner]?.push(partition)
  const byClaims = [...claims.keys()].sort((a, b) => (claims[b]?.length ?? 0) - (claims[a]?.length ?? 0) || a - b)
  for (const bin of byClaims) for (const partition of claims[bin] ?? []) seats.keep(partition, bin)
  for (const partition of numbers(count)) seats.seat(partition)
  return new Map(seats.shares.map((share, bin) => [(sorted[bin] as Claimant).memberId, share]))
}

/** What it costs that a member has to restore a partition before it fires it. */
function coldness({ warm, copies }: Claimant, partition: number, follows: boolean): number {
  const hasCopy = copies?.has(partition) === true
  if (warm === undefined ? follows && hasCopy : warm.has(partition)) return 0
  // Of one that has just begun to follow there may be nothing yet.
  if (follows && warm !== undefined) return coldCost / 2
  return hasCopy ? coldCost : 2 * coldCost
}

/** For each partition its holders by how far they are: 0 is the furthest. */
export function ranksOf(
  count: number,
  members: readonly { copies?: ReadonlyMap<number, number> }[],
): Map<number, Map<number, number>> {
  const ranks = new Map<number, Map<number, number>>()
  for (const partition of numbers(count)) {
    const offsets = members.flatMap(({ copies }, bin) => {
      const offset = copies?.get(partition)
      return offset === undefined ? [] : [{ bin, offset }]
    })
    offsets.sort((a, b) => b.offset - a.offset || a.bin - b.bin)
    ranks.set(partition, new Map(offsets.map(({ bin }, rank) => [bin, rank])))
  }
  return ranks
}

/** Each partition's true owner until now, by its place among the members. */
export function ownersOf(count: number, members: readonly Claimant[]): (number | undefined)[] {
  const owners: (number | undefined)[] = new Array(count).fill(undefined)
  for (const [place, { owned, generation }] of members.entries())
    for (const partition of owned) {
      if (!Number.isInteger(partition) || partition < 0 || partition >= count) continue
      const rival = owners[partition]
      if (rival === undefined || generation > (members[rival] as Claimant).generation) owners[partition] = place
    }
  return owners
}

export const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
