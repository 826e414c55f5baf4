/**
 * A consumer group: eager rebalances, standbys that read some of the topics, and members that learn their assignment one after
 * the other. A suspended member is removed, and joins again when it finds out.
 */
import type { Position, TopicPartition } from '../../ground/ports/index.ts'
import { coPartitioned, readUserData } from '../../log/kafka/index.ts'
import type { Chance } from './chance.ts'
import type { Io } from './io.ts'
import type { Member, MemberGroup } from './member.ts'
import type { MemoryLog } from './memory-log.ts'

/** How partitions are assigned: at random without standbys, at random with one standby each, or by the rule of the product. */
export type Sharing = 'owners' | 'standbys' | 'by the rule'

export class Group implements MemberGroup {
  readonly log: MemoryLog
  readonly io: Io
  readonly chance: Chance
  readonly members = new Set<Member>()
  /** Violations: what a member did and no member may do. */
  readonly faults: string[] = []
  #sharing: Sharing
  #generation = 0

  constructor(log: MemoryLog, io: Io, chance: Chance, sharing: Sharing) {
    this.#sharing = sharing
    this.log = log
    this.io = io
    this.chance = chance
  }

  /** From now on, whatever it was made with. */
  shareByRule(): void {
    this.#sharing = 'by the rule'
  }

  /** Assigns again. Suspended members are removed. */
  rebalance(): void {
    this.#generation++
    for (const member of this.members) {
      member.fetching = false
      if (member.machine.frozen || member.isIsolated || !member.machine.alive) this.members.delete(member)
    }
    if (this.#sharing === 'by the rule') return this.#assignByRule()
    for (const member of this.members)
      member.promised = { generation: this.#generation, partitions: [], standbys: [], awaited: [] }
    // A member that is about to leave gets no partition while others stay.
    const staying = [...this.members].filter(({ isLeaving }) => !isLeaving)
    const members = staying.length > 0 ? staying : [...this.members]
    const start = this.chance.int(0, 7)
    for (let partition = 0; partition < this.log.partitions; partition++) {
      members[(partition + start) % members.length]?.promised?.partitions.push(partition)
      if (this.#sharing === 'owners' || members.length === 1) continue
      members[(partition + start + 1) % members.length]?.promised?.standbys.push(partition)
    }
  }

  /** Assigns as the leader of the group does: from the notes of all members, by the rule of the product. */
  #assignByRule(): void {
    const members = [...this.members]
    const counts = new Map(members.flatMap(({ topics }) => topics.map((topic) => [topic, this.log.partitions] as const)))
    const roles = members.map((member) => ({
      memberId: member.id,
      topics: member.topics,
      note: readUserData(member.id, member.note),
    }))
    const assignments = coPartitioned(roles, counts)
    for (const member of members) member.promise(this.#generation, assignments.get(member.id) ?? {})
  }

  /** The position from which a member reads when it names none. */
  positionOf(_place: TopicPartition): number {
    return 0
  }

  /** Undefined: the positions that its members commit are not kept. */
  readonly keep: ((member: Member, positions: readonly Position[]) => void) | undefined = undefined

  get generation(): number {
    return this.#generation
  }

  /** A log has become shorter. A member that had read beyond its end starts again at a valid position. */
  moved(topic: string, partition: number): void {
    for (const member of this.members) member.lostPlace({ topic, partition })
  }

  /** A request that arrives after the session of its member has ended is refused. */
  join(member: Member): void {
    if (member.hasEnded) return
    this.members.add(member)
    this.rebalance()
  }

  leave(member: Member): void {
    if (this.members.delete(member)) this.rebalance()
  }
}
