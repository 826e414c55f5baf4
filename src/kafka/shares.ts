/** Who gets which partition number. Pure: the same members give the same shares, whoever leads the group. */

export interface Claimant {
  memberId: string
  /** Partition numbers it read until now. */
  owned: readonly number[]
  /** Group generation of which it last heard; the later claim of two to one partition is the true one. */
  generation: number
}

/**
 * Shares the numbers 0…count−1: nobody has more than one more than another, and everybody keeps
 * as much of what he owned as that allows.
 */
export function sharePartitions(count: number, members: readonly Claimant[]): Map<string, number[]> {
  const shares = new Map<string, number[]>()
  if (members.length === 0) return shares
  const claims = claimsOf(count, members)
  const floor = Math.floor(count / members.length)
  let extras = count % members.length
  // Those who owned most come first for the larger shares, so that the fewest partitions move.
  const order = [...members].sort(
    (a, b) => (claims.get(b.memberId)?.length ?? 0) - (claims.get(a.memberId)?.length ?? 0) || compare(a.memberId, b.memberId),
  )
  const taken = new Set<number>()
  const quotas = new Map<string, number>()
  for (const { memberId } of order) {
    const quota = floor + (extras > 0 ? 1 : 0)
    if (extras > 0) extras--
    quotas.set(memberId, quota)
    const kept = (claims.get(memberId) ?? []).slice(0, quota)
    for (const partition of kept) taken.add(partition)
    shares.set(memberId, kept)
  }
  let free = 0
  for (const { memberId } of order) {
    const share = shares.get(memberId) as number[]
    while (share.length < (quotas.get(memberId) as number)) {
      while (taken.has(free)) free++
      share.push(free++)
    }
    share.sort((a, b) => a - b)
  }
  return shares
}

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

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
