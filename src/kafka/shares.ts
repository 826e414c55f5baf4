/** Who gets which partition number. Pure: the same members give the same shares, whoever leads the group. */

export interface Claimant {
  memberId: string
  /** Partition numbers it read until now. */
  owned: readonly number[]
  /** Group generation of which it last heard; the later claim of two to one partition is the true one. */
  generation: number
  /** What it has of partitions locally, and how far: the next offset to be read. Default: nothing. */
  copies?: ReadonlyMap<number, number>
}

/**
 * Shares the numbers 0…count−1: nobody has more than one more than another, and everybody keeps as much of what he owned as that
 * allows. What is free goes to whoever has the most advanced copy of it and room, else to whoever has room.
 */
export function sharePartitions(count: number, members: readonly Claimant[]): Map<string, number[]> {
  const shares = new Map<string, number[]>()
  if (members.length === 0) return shares
  const claims = claimsOf(count, members)
  const claimed = (member: Claimant): number[] => claims.get(member.memberId) ?? []
  const quotas = quotasOf(count, members, claims)
  const room = (member: Claimant): number => (quotas.get(member.memberId) as number) - (shares.get(member.memberId) ?? []).length
  const poor = members.filter((member) => claimed(member).length < (quotas.get(member.memberId) as number))
  const wanted = (partition: number): number => Number(poor.some(({ copies }) => copies?.has(partition)))
  const taken = new Set<number>()
  for (const member of members) {
    // Whoever has to give something gives what others have a copy of.
    const kept = [...claimed(member)].sort((a, b) => wanted(a) - wanted(b) || a - b).slice(0, quotas.get(member.memberId))
    for (const partition of kept) taken.add(partition)
    shares.set(member.memberId, kept)
  }
  const free = numbers(count).filter((partition) => !taken.has(partition))
  const left = toHeirs(free, members, room, (member, partition) => shares.get(member.memberId)?.push(partition))
  const sorted = [...members].sort((a, b) => claimed(b).length - claimed(a).length || compare(a.memberId, b.memberId))
  for (const member of sorted) shares.get(member.memberId)?.push(...left.splice(0, room(member)))
  for (const share of shares.values()) share.sort((a, b) => a - b)
  return shares
}

/** Those of which the fewest have a copy choose first. Returns what nobody with room has a copy of. */
function toHeirs(
  free: readonly number[],
  members: readonly Claimant[],
  room: (member: Claimant) => number,
  give: (member: Claimant, partition: number) => void,
): number[] {
  const holders = new Map(free.map((partition) => [partition, members.filter(({ copies }) => copies?.has(partition))]))
  const holdersOf = (partition: number): Claimant[] => holders.get(partition) ?? []
  const left: number[] = []
  for (const partition of [...free].sort((a, b) => holdersOf(a).length - holdersOf(b).length || a - b)) {
    const [heir] = holdersOf(partition)
      .filter((member) => room(member) > 0)
      .sort((a, b) => offsetOf(b, partition) - offsetOf(a, partition) || room(b) - room(a) || compare(a.memberId, b.memberId))
    if (heir === undefined) left.push(partition)
    else give(heir, partition)
  }
  return left.sort((a, b) => a - b)
}

/** The larger shares go to those who owned most, so that the fewest partitions move, then to the best heirs of what is free. */
function quotasOf(count: number, members: readonly Claimant[], claims: ReadonlyMap<string, number[]>): Map<string, number> {
  const owned = new Set([...claims.values()].flat())
  const claimed = ({ memberId }: Claimant): number => claims.get(memberId)?.length ?? 0
  const free = numbers(count).filter((partition) => !owned.has(partition))
  const furthest = new Map(free.map((partition) => [partition, Math.max(...members.map((each) => offsetOf(each, partition)))]))
  const heritage = (member: Claimant): number =>
    free.filter((partition) => member.copies?.has(partition) && offsetOf(member, partition) === furthest.get(partition)).length
  const order = members
    .map((member) => ({ member, claimed: claimed(member), heritage: heritage(member) }))
    .sort((a, b) => b.claimed - a.claimed || b.heritage - a.heritage || compare(a.member.memberId, b.member.memberId))
  const floor = Math.floor(count / members.length)
  const extras = count % members.length
  return new Map(order.map(({ member }, place) => [member.memberId, floor + (place < extras ? 1 : 0)]))
}

const offsetOf = ({ copies }: Claimant, partition: number): number => copies?.get(partition) ?? -1

/** Each partition's true owner until now. */
function claimsOf(count: number, members: readonly Claimant[]): Map<string, number[]> {
  const owners: (Claimant | undefined)[] = new Array(count).fill(undefined)
  for (const member of members)
    for (const partition of member.owned) {
      if (!Number.isInteger(partition) || partition < 0 || partition >= count) continue
      const rival = owners[partition]
      const wins =
        rival === undefined ||
        member.generation > rival.generation ||
        (member.generation === rival.generation && compare(member.memberId, rival.memberId) < 0)
      if (wins) owners[partition] = member
    }
  const claims = new Map<string, number[]>()
  owners.forEach((owner, partition) => {
    if (owner) claims.set(owner.memberId, [...(claims.get(owner.memberId) ?? []), partition])
  })
  return claims
}

export const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
