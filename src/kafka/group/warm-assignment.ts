/**
 * Who has which partition, and who follows it, until those are warm that are to have it. Pure, as what they are to have is (owner-assignment.ts,
 * standby-assignment.ts). A member that is to own a partition which another fires, or to follow it in the place of one that is warm, follows it
 * besides first. It is awaited: it says when it is warm by joining anew, and the others go then. Until that nobody waits for anything, so one
 * that never gets warm changes nothing.
 */
import { assignOwners, type Claimant, compare, numbers, ownersOf } from './owner-assignment.ts'
import { assignStandbys, type Follower } from './standby-assignment.ts'

type Shares = Map<string, number[]>
type Standing = Claimant & Follower

export interface WarmAssignment {
  owners: Shares
  /** What each follows, whether it is awaited or not. */
  copies: Shares
  /** Of that, what is to change others' part once it is warm. */
  awaited: Shares
}

/** `yielding`: they want nothing more, and what they fire they fire until one of the members is warm. */
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
  // Who owns a partition has a copy that is as good as one that follows.
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
  const isReadyBy = (memberId: string, partition: number): boolean => isReady(byId.get(memberId) as Standing, partition)
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
 * A partition whose owner is there, and fires as far as it says, stays with it until who is to own it is warm. One without an owner, or whose
 * owner is not warm itself, goes at once: to whoever is to own it if that is warm or nobody is, else to the one of the warm that has the least.
 * One whose owner yields and fires goes in the same way as soon as one of the others is warm.
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
    const stays = owner !== undefined && !yielding.includes(owner)
    if (target === owner || isReady(target, partition)) give(partition, target)
    else if (stays && isReady(owner, partition)) give(partition, owner)
    else free.push([partition, !stays && owner?.warm?.has(partition) === true ? owner : target])
  }
  const sizeOf = ({ memberId }: Standing): number => owners.get(memberId)?.length ?? 0
  for (const [partition, last] of free) {
    const warm = sorted.filter((member) => isWarm(member, partition))
    const [best = last] = warm.sort((a, b) => sizeOf(a) - sizeOf(b) || compare(a.memberId, b.memberId))
    give(partition, best)
  }
  for (const share of owners.values()) share.sort((a, b) => a - b)
  return owners
}

/** Who does not say how warm it is is of an earlier version: it fires what it owns, and gets what it is to have at once. */
const isReady = ({ warm }: Standing, partition: number): boolean => warm?.has(partition) ?? true
const isWarm = ({ warm, following }: Standing, partition: number): boolean =>
  warm?.has(partition) ?? following.includes(partition)

const memberOf = (shares: Shares): Map<number, string> =>
  new Map([...shares].flatMap(([memberId, share]) => share.map((partition) => [partition, memberId] as const)))

function membersOf(shares: ReadonlyMap<string, readonly number[]>): Map<number, string[]> {
  const members = new Map<number, string[]>()
  for (const [memberId, share] of shares)
    for (const partition of share) members.set(partition, [...(members.get(partition) ?? []), memberId])
  return members
}
