/** Who follows which partition beside its owner. Pure, as the shares of the owners are (shares.ts). */
import { compare, numbers } from './shares.ts'

export interface Follower {
  memberId: string
  /** Two members of one host are lost together. */
  host: string
  /** Partition numbers it followed until now. */
  following: readonly number[]
  /** What it has of partitions locally, and how far. */
  copies: ReadonlyMap<number, number>
}

/**
 * Gives each of the numbers 0…count−1 as many standbys as are wanted, as far as there are members besides the owner. Whoever followed
 * goes on, then whoever has a copy is preferred, on another host than the owner's wherever there is one; nobody has many more than others.
 */
export function shareStandbys(
  count: number,
  wanted: number,
  members: readonly Follower[],
  owners: ReadonlyMap<string, readonly number[]>,
): Map<string, number[]> {
  const shares = new Map<string, number[]>(members.map(({ memberId }) => [memberId, []]))
  const places = Math.min(wanted, members.length - 1)
  if (places <= 0) return shares
  const fair = Math.ceil((count * places) / members.length)
  const ownerOf = new Map<number, Follower>()
  for (const member of members) for (const partition of owners.get(member.memberId) ?? []) ownerOf.set(partition, member)
  const load = ({ memberId }: Follower): number => shares.get(memberId)?.length ?? 0
  const follows = ({ memberId }: Follower, partition: number): boolean => shares.get(memberId)?.includes(partition) ?? false
  const standbysOf = (partition: number): Follower[] => members.filter((member) => follows(member, partition))
  const give = (partition: number, candidates: readonly Follower[]): boolean => {
    const owner = ownerOf.get(partition)
    const taken = standbysOf(partition)
    if (taken.length >= places) return false
    const [chosen] = candidates
      .filter((member) => member !== owner && !taken.includes(member))
      .map((member) => ({
        member,
        full: Number(load(member) >= fair),
        near: [...(owner === undefined ? [] : [owner]), ...taken].filter(({ host }) => host === member.host).length,
        followed: Number(member.following.includes(partition)),
        offset: member.copies.get(partition) ?? -1,
      }))
      .sort(
        (a, b) =>
          a.full - b.full ||
          a.near - b.near ||
          b.followed - a.followed ||
          b.offset - a.offset ||
          load(a.member) - load(b.member) ||
          compare(a.member.memberId, b.member.memberId),
      )
    if (chosen === undefined) return false
    shares.get(chosen.member.memberId)?.push(partition)
    return true
  }
  const remote = (member: Follower, partition: number): boolean => member.host !== ownerOf.get(partition)?.host
  const elsewhere = (partition: number): boolean => members.some((member) => remote(member, partition))
  // Who may stay is seated first, then who has a copy, so that newcomers do not take their places.
  const stays = (member: Follower, partition: number): boolean =>
    load(member) < fair && (remote(member, partition) || !elsewhere(partition))
  for (const partition of numbers(count)) {
    while (
      give(
        partition,
        members.filter((m) => m.following.includes(partition) && stays(m, partition)),
      )
    );
  }
  for (const partition of numbers(count)) {
    while (
      give(
        partition,
        members.filter((m) => m.copies.has(partition) && stays(m, partition)),
      )
    );
  }
  for (const partition of numbers(count)) while (give(partition, members));
  even(members, shares, ownerOf, fair)
  for (const share of shares.values()) share.sort((a, b) => a - b)
  return shares
}

/** The last partitions find only their owners with room: who took them beyond his share gives up one that was not his before. */
function even(
  members: readonly Follower[],
  shares: Map<string, number[]>,
  ownerOf: ReadonlyMap<number, Follower>,
  fair: number,
): void {
  const shareOf = ({ memberId }: Follower): number[] => shares.get(memberId) ?? []
  const sorted = [...members].sort((a, b) => compare(a.memberId, b.memberId))
  for (const rich of sorted) {
    for (const partition of [...shareOf(rich)]) {
      if (shareOf(rich).length <= fair) break
      if (rich.following.includes(partition) || rich.copies.has(partition)) continue
      const owner = ownerOf.get(partition)
      const poor = sorted.find(
        (member) =>
          shareOf(member).length < fair &&
          member !== owner &&
          !shareOf(member).includes(partition) &&
          (member.host !== owner?.host || rich.host === owner?.host),
      )
      if (poor === undefined) continue
      shares.set(
        rich.memberId,
        shareOf(rich).filter((each) => each !== partition),
      )
      shareOf(poor).push(partition)
    }
  }
}
