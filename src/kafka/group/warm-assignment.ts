/**
 * Assignment of owners and standbys until the target members are warm. Pure, like the target assignment itself
 * (owner-assignment.ts, standby-assignment.ts). A member that is to own a partition which another fires, or to replace a warm
 * standby, first follows it in addition. It is awaited: it reports that it is warm by rejoining, and only then the others give up
 * the partition. Nothing blocks meanwhile, so a member that never gets warm changes nothing.
 *
 * Members that have no standbys can be cooperative: a partition that one of them loses is assigned to nobody until that member has
 * committed it and joined again. The rule is that of Kafka's cooperative rebalancing (KIP-429).
 */
import { assignOwners, type Claimant, compare, numbers, ownersOf } from './owner-assignment.ts'
import { assignStandbys, type Follower } from './standby-assignment.ts'

type Shares = Map<string, number[]>
type WarmMember = Claimant & Follower

export interface WarmAssignment {
  owners: Shares
  /** All followed partitions, including the awaited ones. */
  copies: Shares
  /** Of these, the ones that change the share of others once they are warm. */
  awaited: Shares
}

/** `yielding`: they want no more, and fire their partitions until another member is warm. */
export function assignWarm(
  count: number,
  wanted: number,
  members: readonly WarmMember[],
  yielding: readonly WarmMember[] = [],
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
  const copies: Shares = new Map(sorted.map(({ memberId }) => [memberId, []]))
  const awaited: Shares = new Map(sorted.map(({ memberId }) => [memberId, []]))
  const [ownerOf, targetOf] = [memberOf(owners), memberOf(targets)]
  const standbysOf = membersOf(standbys)
  const followersOf = membersOf(new Map(followers.map(({ memberId, following }) => [memberId, following])))
  const byId = new Map(sorted.map((member) => [member.memberId, member]))
  const isReadyBy = (memberId: string, partition: number): boolean => isReady(byId.get(memberId) as WarmMember, partition)
  for (const partition of numbers(count)) {
    const owner = ownerOf.get(partition)
    const target = targetOf.get(partition)
    const wantedHere = new Set([...(standbysOf.get(partition) ?? []), ...(target === undefined ? [] : [target])])
    wantedHere.delete(owner ?? '')
    const cold = [...wantedHere].filter((memberId) => !isReadyBy(memberId, partition))
    const kept = (followersOf.get(partition) ?? [])
      .filter((memberId) => memberId !== owner && !wantedHere.has(memberId) && isReadyBy(memberId, partition))
      .slice(0, cold.length === 0 ? 0 : Math.max(0, wanted - (wantedHere.size - cold.length)))
    for (const memberId of [...wantedHere, ...kept]) copies.get(memberId)?.push(partition)
    for (const memberId of cold) if (memberId === target || kept.length > 0) awaited.get(memberId)?.push(partition)
  }
  return { owners, copies, awaited }
}

/**
 * A partition that a cooperative member has to give up is left out. One whose present owner reports that it fires it stays until
 * the target owner is warm. A partition without an owner, or
 * with one that is not warm, moves at once. It moves to the target owner if that one is warm or if no member is warm, and
 * otherwise to the warm member with the fewest. A partition whose owner yields and fires moves in the same way as soon as another
 * member is warm.
 */
function ownersUntilWarm(count: number, sorted: readonly WarmMember[], targets: Shares, yielding: readonly WarmMember[]): Shares {
  const targetOf = memberOf(targets)
  const everybody = [...sorted, ...yielding].sort((a, b) => compare(a.memberId, b.memberId))
  const before = ownersOf(count, everybody)
  const owners: Shares = new Map(everybody.map(({ memberId }) => [memberId, []]))
  const give = (partition: number, { memberId }: WarmMember): void => void owners.get(memberId)?.push(partition)
  const free: [partition: number, last: WarmMember][] = []
  for (const partition of numbers(count)) {
    const target = sorted.find(({ memberId }) => memberId === targetOf.get(partition))
    if (target === undefined) continue
    const owner = everybody[before[partition] ?? -1]
    if (target !== owner && owner?.cooperative === true) continue
    const stays = owner !== undefined && !yielding.includes(owner)
    if (target === owner || isReady(target, partition)) give(partition, target)
    else if (stays && isReady(owner, partition)) give(partition, owner)
    else free.push([partition, !stays && owner?.warm?.has(partition) === true ? owner : target])
  }
  const sizeOf = ({ memberId }: WarmMember): number => owners.get(memberId)?.length ?? 0
  for (const [partition, last] of free) {
    const warm = sorted.filter((member) => isWarm(member, partition))
    const [best = last] = warm.sort((a, b) => sizeOf(a) - sizeOf(b) || compare(a.memberId, b.memberId))
    give(partition, best)
  }
  for (const share of owners.values()) share.sort((a, b) => a - b)
  return owners
}

/**
 * A member that does not report how warm it is has an earlier version: it fires what it owns, and gets its target partitions at
 * once.
 */
const isReady = ({ warm }: WarmMember, partition: number): boolean => warm?.has(partition) ?? true
const isWarm = ({ warm, following }: WarmMember, partition: number): boolean =>
  warm?.has(partition) ?? following.includes(partition)

const memberOf = (shares: Shares): Map<number, string> =>
  new Map([...shares].flatMap(([memberId, share]) => share.map((partition) => [partition, memberId] as const)))

function membersOf(shares: ReadonlyMap<string, readonly number[]>): Map<number, string[]> {
  const members = new Map<number, string[]>()
  for (const [memberId, share] of shares)
    for (const partition of share) members.set(partition, [...(members.get(partition) ?? []), memberId])
  return members
}
