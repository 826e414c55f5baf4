/** Assignment of partitions to owners. Pure: the same members give the same result, whichever member leads the group. */
import { MinCostAssignment } from './min-cost-assignment.ts'

export interface Claimant {
  memberId: string
  /** Partitions that it has read until now. */
  owned: readonly number[]
  /** The last group generation that it knows. If two members claim one partition, the later claim is the true one. */
  generation: number
  /** Partitions of which it has a local copy, with the next offset to read. Default: none. */
  copies?: ReadonlyMap<number, number>
  /** Partitions that it has followed until now: its copies of these are up to date, or soon will be. Default: none. */
  following?: readonly number[]
  /** A partition that it loses stays without a reader until it no longer claims it. Default: it moves at once. */
  cooperative?: boolean
  /** Partitions that it fires, or could fire at once. Absent: not reported; then the followed ones count as up to date. */
  warm?: { has(partition: number): boolean } | undefined
}

/** Cost of moving a partition between living owners. More than all other costs together. */
const moveCost = 1e9
/**
 * A warm member costs nothing, one that follows half of this, one with a copy this, one without a copy twice this. Of two, the
 * more advanced one costs less.
 */
const coldCost = 1e6

/**
 * Assigns the numbers 0…count−1. Shares differ by at most one, and each member keeps as many of its partitions as that allows. A
 * partition that has to move, or is free, goes to a warm member if balance allows, else to one that follows it, else to one with
 * a copy, the most advanced first. warm-assignment.ts decides when it goes.
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
  const one = { sources: 1, sourceOf: () => 0, pairItemsMax: () => Number.POSITIVE_INFINITY }
  const assignment = new MinCostAssignment({ bins: sorted.length, taken: sorted.map(() => 0), cost, ...one }, count)
  // The members that owned most get the larger shares, so that the fewest partitions move.
  const claims: number[][] = sorted.map(() => [])
  for (const [partition, owner] of owners.entries()) if (owner !== undefined) claims[owner]?.push(partition)
  const byClaims = [...claims.keys()].sort((a, b) => (claims[b]?.length ?? 0) - (claims[a]?.length ?? 0) || a - b)
  for (const bin of byClaims) for (const partition of claims[bin] ?? []) assignment.keep(partition, bin)
  for (const partition of numbers(count)) assignment.assign(partition)
  return new Map(assignment.shares.map((share, bin) => [(sorted[bin] as Claimant).memberId, share]))
}

/** Cost for a member that has to restore a partition before it fires it. */
function coldness({ warm, copies }: Claimant, partition: number, follows: boolean): number {
  const hasCopy = copies?.has(partition) === true
  if (warm === undefined ? follows && hasCopy : warm.has(partition)) return 0
  // A member that has just begun to follow may not have a copy yet.
  if (follows && warm !== undefined) return coldCost / 2
  return hasCopy ? coldCost : 2 * coldCost
}

/** For each partition, the rank of its holders by progress: 0 is the most advanced. */
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

/** The current true owner of each partition, as an index into the members. */
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
