/** Assignment of partitions to standbys, beside their owners. Pure, like the assignment of owners (owner-assignment.ts). */
import { MinCostAssignment } from './min-cost-assignment.ts'
import { compare, numbers, ranksOf } from './owner-assignment.ts'

export interface Follower {
  memberId: string
  /** Two members on one host fail together. */
  host: string
  /** Partitions that it has followed until now. */
  following: readonly number[]
  /** Its local copies of partitions, with their offsets. */
  copies: ReadonlyMap<number, number>
  /** Partitions that it could fire at once. Absent: not reported; then the followed ones count as up to date. */
  warm?: { has(partition: number): boolean } | undefined
}

/** Cost of two processes of one partition on the same host. More than any number of new copies. */
const nearCost = 1e9
/**
 * A member that followed costs nothing, or half of this if it is not warm. One with a copy costs this, one without a copy twice
 * this. Of two, the more advanced one costs less.
 */
const coldCost = 1e6

/**
 * Gives each of the numbers 0…count−1 the wanted number of standbys, if there are enough members besides the owner. The numbers
 * of followed partitions differ by at most one. The partitions of one owner are spread over all other members, so that each can
 * take over a part. Within these limits, standbys are on other hosts than the owner, current followers continue, and members with
 * a copy are preferred.
 */
export function assignStandbys(
  count: number,
  wanted: number,
  members: readonly Follower[],
  owners: ReadonlyMap<string, readonly number[]>,
): Map<string, number[]> {
  const sorted = [...members].sort((a, b) => compare(a.memberId, b.memberId))
  const ownerOf = new Map<number, number>()
  for (const [place, { memberId }] of sorted.entries())
    for (const partition of owners.get(memberId) ?? []) ownerOf.set(partition, place)
  const shares: number[][] = sorted.map(() => [])
  const places = Math.min(wanted, members.length - 1)
  // Rounds are needed only where standbys of one partition may be on one host: each round knows the hosts of the rounds before.
  const areHostsDistinct = new Set(members.map(({ host }) => host)).size === members.length
  const perRound = areHostsDistinct ? places : 1
  for (let done = 0; done < places; done += perRound) {
    const more = roundOf({ count, copies: perRound, places: done + perRound }, sorted, ownerOf, shares)
    for (const [place, share] of more.entries()) shares[place]?.push(...share)
  }
  for (const share of shares) share.sort((a, b) => a - b)
  return new Map(shares.map((share, place) => [(sorted[place] as Follower).memberId, share]))
}

/** `copies`: of each partition, in this round. `places`: the same with those of the rounds before. */
interface Round {
  count: number
  copies: number
  places: number
}

/**
 * Adds standbys to each partition at the least cost of all of them together. So a plan that needs nothing new is found if there is
 * one, and each copy that gets warm makes the best plan cheaper: a group that warms up one copy after another comes to an end.
 */
function roundOf(
  { count, copies, places }: Round,
  members: readonly Follower[],
  ownerOf: ReadonlyMap<number, number>,
  shares: readonly (readonly number[])[],
): number[][] {
  const ranks = ranksOf(count, members)
  const following = members.map((member) => new Set(member.following))
  const has = shares.map((share) => new Set(share))
  const isOf = (partition: number, bin: number): boolean => ownerOf.get(partition) === bin || has[bin]?.has(partition) === true
  const hostOf = (bin: number): string => (members[bin] as Follower).host
  const nearness = numbers(count).map((partition) => {
    const hosts = new Map<string, number>()
    for (const bin of members.keys()) if (isOf(partition, bin)) hosts.set(hostOf(bin), (hosts.get(hostOf(bin)) ?? 0) + 1)
    const near = (bin: number): number => hosts.get(hostOf(bin)) ?? 0
    let least = Number.POSITIVE_INFINITY
    for (const bin of members.keys()) if (!isOf(partition, bin)) least = Math.min(least, near(bin))
    return (bin: number): number => near(bin) - least
  })
  const cost = (partition: number, bin: number): number => {
    if (isOf(partition, bin)) return Number.POSITIVE_INFINITY
    const near = nearCost * (nearness[partition]?.(bin) ?? 0)
    if (following[bin]?.has(partition)) return near + (members[bin]?.warm?.has(partition) === false ? coldCost / 2 : 0)
    const rank = ranks.get(partition)?.get(bin)
    return near + (rank === undefined ? 2 * coldCost : coldCost + rank)
  }
  const owned = countsOf(ownerOf.values())
  const onHost = countsOf(members.map(({ host }) => host))
  const before = shares.map((share) => countsOf(share.map((partition) => ownerOf.get(partition))))
  const pairItemsMax = (bin: number, owner: number): number => {
    if (owner === members.length) return Number.POSITIVE_INFINITY
    const remote = members.length - (onHost.get(hostOf(owner)) ?? 0)
    if (remote > 0 && hostOf(bin) === hostOf(owner)) return Number.POSITIVE_INFINITY
    const most = Math.ceil(((owned.get(owner) ?? 0) * places) / (remote || members.length - 1))
    return Math.max(0, most - (before[bin]?.get(owner) ?? 0))
  }
  // Items are copies: item i is one of partition i % count.
  const items = numbers(count * copies)
  const siblings = numbers(count).map((partition) => numbers(copies).map((copy) => copy * count + partition))
  const taken = shares.map(({ length }) => length)
  const assignment = new MinCostAssignment(
    {
      ...{ bins: members.length, taken, sources: members.length + 1, pairItemsMax },
      cost: (item, bin) => cost(item % count, bin),
      sourceOf: (item) => ownerOf.get(item % count) ?? members.length,
      apartFrom: (item) => siblings[item % count]?.filter((other) => other !== item) ?? [],
    },
    items.length,
  )
  for (const item of items) for (const bin of members.keys()) assignment.keep(item, bin)
  for (const item of items) assignment.assign(item)
  return assignment.shares.map((share) => share.map((item) => item % count))
}

function countsOf<Value>(values: Iterable<Value>): Map<Value, number> {
  const counts = new Map<Value, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}
