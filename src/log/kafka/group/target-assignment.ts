/**
 * Which member should own each partition, and which should be its standbys. Pure: the same members give the same result, whichever
 * member leads the group. The assignment until the target members are warm, below, decides when a partition goes there.
 */
import { type AssignmentPlan, EvenAssignment } from './even-assignment.ts'

/** What counts of a member. */
export interface Standing {
  memberId: string
  /** Two members on one host fail together. */
  host: string
  /** Partitions that it has read until now. */
  owned: readonly number[]
  /** The last group generation that it knows. If two members claim one partition, the later claim is the true one. */
  generation: number
  /** Partitions of which it has a local copy, with the next offset to read. */
  copies: ReadonlyMap<number, number>
  /** Partitions that it has followed until now. */
  following: readonly number[]
  /** Partitions that it fires, or could fire at once. */
  warm: { has(partition: number): boolean }
  /** A partition that it loses stays without a reader until it no longer claims it. Default: it moves at once. */
  cooperative?: boolean
}

/** Cost of moving a partition between living owners, and of two processes of one partition on one host. More than all other costs together. */
const [moveCost, nearCost] = [1e9, 1e9]
/** A member that follows and is not warm costs half of this, one with a copy this, one without a copy twice this. Of two, the more advanced one costs less. */
const coldCost = 1e6

/**
 * Assigns the numbers 0…count−1. Shares differ by at most one, and each member keeps as many of its partitions as that allows. A
 * partition that has to move, or is free, goes to a warm member if balance allows, else to one that follows it, else to one with
 * a copy, the most advanced first.
 */
export function assignOwners(count: number, members: readonly Standing[]): Map<string, number[]> {
  if (members.length === 0) return new Map()
  const sorted = [...members].sort((a, b) => compare(a.memberId, b.memberId))
  const owners = ownersOf(count, sorted)
  const ranks = ranksOf(count, sorted)
  const following = sorted.map((member) => new Set(member.following))
  const cost = (partition: number, bin: number): number => {
    const owner = owners[partition]
    if (owner === bin) return 0
    const cold = coldness(sorted[bin] as Standing, partition, following[bin]?.has(partition) === true)
    return (owner === undefined ? 0 : moveCost) + cold + (ranks.get(partition)?.get(bin) ?? 0)
  }
  const one = { sourceOf: () => 0, pairItemsMax: () => Number.POSITIVE_INFINITY }
  const assignment = new EvenAssignment({ bins: sorted.length, cost, ...one }, count)
  // The members that owned most get the larger shares, so that the fewest partitions move.
  const claims: number[][] = sorted.map(() => [])
  for (const [partition, owner] of owners.entries()) if (owner !== undefined) claims[owner]?.push(partition)
  const byClaims = [...claims.keys()].sort((a, b) => (claims[b]?.length ?? 0) - (claims[a]?.length ?? 0) || a - b)
  for (const bin of byClaims) for (const partition of claims[bin] ?? []) assignment.keep(partition, bin)
  assignment.assign(numbers(count))
  return new Map(assignment.shares.map((share, bin) => [(sorted[bin] as Standing).memberId, share]))
}

/** Cost for a member that has to restore a partition before it fires it. */
function coldness({ warm, copies }: Standing, partition: number, follows: boolean): number {
  if (warm.has(partition)) return 0
  // A member that has just begun to follow may not have a copy yet.
  if (follows) return coldCost / 2
  return copies.has(partition) ? coldCost : 2 * coldCost
}

/** For each partition, the rank of its holders by progress: 0 is the most advanced. */
function ranksOf(count: number, members: readonly Standing[]): Map<number, Map<number, number>> {
  const ranks = new Map<number, Map<number, number>>()
  for (const partition of numbers(count)) {
    const offsets = members.flatMap(({ copies }, bin) => {
      const offset = copies.get(partition)
      return offset === undefined ? [] : [{ bin, offset }]
    })
    offsets.sort((a, b) => b.offset - a.offset || a.bin - b.bin)
    ranks.set(partition, new Map(offsets.map(({ bin }, rank) => [bin, rank])))
  }
  return ranks
}

/** The current true owner of each partition, as an index into the members. */
export function ownersOf(count: number, members: readonly Standing[]): (number | undefined)[] {
  const owners: (number | undefined)[] = new Array(count).fill(undefined)
  for (const [place, { owned, generation }] of members.entries())
    for (const partition of owned) {
      if (!Number.isInteger(partition) || partition < 0 || partition >= count) continue
      const rival = owners[partition]
      if (rival === undefined || generation > (members[rival] as Standing).generation) owners[partition] = place
    }
  return owners
}

/**
 * Gives each of the numbers 0…count−1 the wanted number of standbys, if there are enough members besides the owner. The numbers
 * of followed partitions differ by at most one. The partitions of one owner are spread over all other members, so that each can
 * take over a part. Within these limits, the processes of a partition are on different hosts, current followers continue, and members
 * with a copy are preferred. A plan that is carried out and given back stays as it is, and each copy that gets warm makes the best plan
 * cheaper: a group that warms up one copy after another comes to an end.
 */
export function assignStandbys(
  count: number,
  wanted: number,
  members: readonly Standing[],
  owners: ReadonlyMap<string, readonly number[]>,
): Map<string, number[]> {
  const sorted = [...members].sort((a, b) => compare(a.memberId, b.memberId))
  const standbysEach = Math.min(wanted, members.length - 1)
  const ownerOf = new Map<number, number>()
  for (const [place, { memberId }] of sorted.entries())
    for (const partition of owners.get(memberId) ?? []) ownerOf.set(partition, place)
  // Items are places of standbys: item i is one of partition i % count.
  const items = numbers(count * Math.max(0, standbysEach))
  const following = sorted.map((member) => new Set(member.following))
  const assignment = new EvenAssignment(planOf({ count, standbysEach }, sorted, ownerOf, following), items.length)
  for (const item of items) for (const bin of sorted.keys()) if (following[bin]?.has(item % count)) assignment.keep(item, bin)
  assignment.assign(items)
  const shares = assignment.shares.map((share) => share.map((item) => item % count).sort((a, b) => a - b))
  return new Map(shares.map((share, place) => [(sorted[place] as Standing).memberId, share]))
}

function planOf(
  { count, standbysEach }: { count: number; standbysEach: number },
  members: readonly Standing[],
  ownerOf: ReadonlyMap<number, number>,
  following: readonly ReadonlySet<number>[],
): AssignmentPlan {
  const ranks = ranksOf(count, members)
  const hostOf = (bin: number): string => (members[bin] as Standing).host
  const together = (bin: number, other: number): number =>
    bin === other ? Number.POSITIVE_INFINITY : hostOf(bin) === hostOf(other) ? nearCost : 0
  const cost = (partition: number, bin: number): number => {
    const owner = ownerOf.get(partition)
    const near = owner === undefined ? 0 : together(bin, owner)
    if (following[bin]?.has(partition)) return near + (members[bin]?.warm.has(partition) === false ? coldCost / 2 : 0)
    const rank = ranks.get(partition)?.get(bin)
    return near + (rank === undefined ? 2 * coldCost : coldCost + rank)
  }
  const owned = countsOf(ownerOf.values())
  const onHost = countsOf(members.map(({ host }) => host))
  const pairItemsMax = (bin: number, owner: number): number => {
    if (owner === members.length) return Number.POSITIVE_INFINITY
    const remote = members.length - (onHost.get(hostOf(owner)) ?? 0)
    if (remote > 0 && hostOf(bin) === hostOf(owner)) return Number.POSITIVE_INFINITY
    return Math.ceil(((owned.get(owner) ?? 0) * standbysEach) / (remote || members.length - 1))
  }
  const siblings = numbers(count * standbysEach).map((item) =>
    numbers(standbysEach)
      .map((copy) => copy * count + (item % count))
      .filter((other) => other !== item),
  )
  return {
    ...{ bins: members.length, pairItemsMax, togetherCost: together },
    cost: (item, bin) => cost(item % count, bin),
    sourceOf: (item) => ownerOf.get(item % count) ?? members.length,
    siblings: (item) => siblings[item] ?? [],
  }
}

function countsOf<Value>(values: Iterable<Value>): Map<Value, number> {
  const counts = new Map<Value, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

export const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Assignment of owners and standbys until the target members are warm. Pure, like the target assignment itself.
 * A member that is to own a partition which another fires, or to replace a warm
 * standby, first follows it in addition. It is awaited: it reports that it is warm by rejoining, and only then the others give up
 * the partition. Nothing blocks meanwhile, so a member that never gets warm changes nothing.
 *
 * Members that have no standbys can be cooperative: a partition that one of them loses is assigned to nobody until that member has
 * committed it and joined again. The rule is that of Kafka's cooperative rebalancing (KIP-429).
 */

type Shares = Map<string, number[]>

export interface WarmAssignment {
  owners: Shares
  /** All followed partitions, including the awaited ones. */
  toFollow: Shares
  /** Of these, the ones that change the share of others once they are warm. */
  awaited: Shares
}

/** `yielding`: they want no more, and fire their partitions until another member is warm. */
export function assignWarm(
  count: number,
  wanted: number,
  members: readonly Standing[],
  yielding: readonly Standing[] = [],
): WarmAssignment {
  const sorted = [...members].sort((a, b) => compare(a.memberId, b.memberId))
  const targets = assignOwners(count, sorted)
  const owners = ownersUntilWarm(count, sorted, targets, yielding)
  const before = ownersOf(count, sorted)
  // The copy of a partition's owner counts as a followed one.
  const followers = sorted.map((member, place) => ({
    ...member,
    following: [...member.following, ...member.owned.filter((each) => before[each] === place)],
  }))
  const standbys = assignStandbys(count, wanted, followers, targets)
  const toFollow: Shares = new Map(sorted.map(({ memberId }) => [memberId, []]))
  const awaited: Shares = new Map(sorted.map(({ memberId }) => [memberId, []]))
  const [ownerOf, targetOf] = [memberOf(owners), memberOf(targets)]
  const standbysOf = membersOf(standbys)
  const followersOf = membersOf(new Map(followers.map(({ memberId, following }) => [memberId, following])))
  const warmOf = new Map(sorted.map(({ memberId, warm }) => [memberId, warm]))
  const isReadyBy = (memberId: string, partition: number): boolean => warmOf.get(memberId)?.has(partition) === true
  for (const partition of numbers(count)) {
    const owner = ownerOf.get(partition)
    const target = targetOf.get(partition)
    const wantedHere = new Set([...(standbysOf.get(partition) ?? []), ...(target === undefined ? [] : [target])])
    wantedHere.delete(owner ?? '')
    const cold = [...wantedHere].filter((memberId) => !isReadyBy(memberId, partition))
    const kept = (followersOf.get(partition) ?? [])
      .filter((memberId) => memberId !== owner && !wantedHere.has(memberId) && isReadyBy(memberId, partition))
      .slice(0, cold.length === 0 ? 0 : Math.max(0, wanted - (wantedHere.size - cold.length)))
    for (const memberId of [...wantedHere, ...kept]) toFollow.get(memberId)?.push(partition)
    for (const memberId of cold) if (memberId === target || kept.length > 0) awaited.get(memberId)?.push(partition)
  }
  return { owners, toFollow, awaited }
}

/**
 * A partition that a cooperative member has to give up is left out. While its present owner fires it, a partition stays there until
 * the target owner is warm. Without an owner that fires it, it moves at once: to the target owner, if that one is warm or nobody is,
 * else to the warm member with the fewest. If its owner yields, it moves in the same way as soon as another member is warm.
 */
function ownersUntilWarm(count: number, sorted: readonly Standing[], targets: Shares, yielding: readonly Standing[]): Shares {
  const targetOf = memberOf(targets)
  const everybody = [...sorted, ...yielding].sort((a, b) => compare(a.memberId, b.memberId))
  const before = ownersOf(count, everybody)
  const owners: Shares = new Map(everybody.map(({ memberId }) => [memberId, []]))
  const give = (partition: number, { memberId }: Standing): void => void owners.get(memberId)?.push(partition)
  const free: [partition: number, last: Standing][] = []
  for (const partition of numbers(count)) {
    const target = sorted.find(({ memberId }) => memberId === targetOf.get(partition))
    if (target === undefined) continue
    const owner = everybody[before[partition] ?? -1]
    if (target !== owner && owner?.cooperative === true) continue
    const stays = owner !== undefined && !yielding.includes(owner)
    if (target === owner || target.warm.has(partition)) give(partition, target)
    else if (stays && owner.warm.has(partition)) give(partition, owner)
    else free.push([partition, !stays && owner?.warm.has(partition) ? owner : target])
  }
  const sizeOf = ({ memberId }: Standing): number => owners.get(memberId)?.length ?? 0
  for (const [partition, last] of free) {
    const warm = sorted.filter(({ warm }) => warm.has(partition))
    const [best = last] = warm.sort((a, b) => sizeOf(a) - sizeOf(b) || compare(a.memberId, b.memberId))
    give(partition, best)
  }
  for (const share of owners.values()) share.sort((a, b) => a - b)
  return owners
}

const memberOf = (shares: Shares): Map<number, string> =>
  new Map([...shares].flatMap(([memberId, share]) => share.map((partition) => [partition, memberId] as const)))

function membersOf(shares: ReadonlyMap<string, readonly number[]>): Map<number, string[]> {
  const members = new Map<number, string[]>()
  for (const [memberId, share] of shares)
    for (const partition of share) members.set(partition, [...(members.get(partition) ?? []), memberId])
  return members
}
