/**
 * The group protocols. All carry in each member's metadata a JSON
 * `{ instance, userData, owned, generation }`, which describeGroups shows to anybody (member-user-data.ts).
 *
 * `range` is the one that clients of other languages speak by default. A group whose members offer it besides one of ours falls back to it
 * while a member is there that knows nothing else: the broker takes what all of them offer.
 */
import { type Assigner, AssignerProtocol, type Cluster, type GroupMember, type PartitionAssigner } from 'kafkajs'
import { metadataOf } from './member-metadata.ts'
import { type MemberUserData, readUserData } from './member-user-data.ts'
import { partitionsIn } from './partition-bits.ts'
import { assignWarm } from './warm-assignment.ts'

export type AssignerKind = 'co-partitioned' | 'round-robin' | 'range'

/** From version 1 on a leader of another library expects more fields than kafkajs writes, and would read past the end. */
const metadataVersion = 0

type Assignments = Map<string, Record<string, number[]>>
interface GroupRole {
  memberId: string
  topics: string[]
  note: MemberUserData
}
type Rule = (members: GroupRole[], counts: Map<string, number>) => Assignments

/** `note` is asked at each join. */
export function createAssigner(kind: AssignerKind, note: () => MemberUserData): PartitionAssigner {
  const rule = rules[kind]
  // Members of other programs know it by its own name.
  const name = kind === 'range' ? kind : `duelog-${kind}`
  // kafkajs passes the whole cluster, which its types narrow to a part.
  return ({ cluster }: { cluster: Cluster }): Assigner => ({
    name,
    version: 1,
    async assign({ members, topics }) {
      const counts = new Map(topics.map((topic) => [topic, cluster.findTopicPartitionMetadata(topic).length]))
      const assignments = rule(members.map(readMember), counts)
      return members.map(({ memberId }) => ({
        memberId,
        memberAssignment: AssignerProtocol.MemberAssignment.encode({
          version: 1,
          assignment: assignments.get(memberId) ?? {},
          userData: Buffer.alloc(0),
        }),
      }))
    },
    protocol: ({ topics }) => ({
      name,
      metadata: AssignerProtocol.MemberMetadata.encode({
        version: metadataVersion,
        topics,
        userData: Buffer.from(JSON.stringify(note())),
      }),
    }),
  })
}

/**
 * Partition i of every topic goes to one member and stays there where balance allows. Standbys get some of the topics besides, and one more
 * where they are awaited (warm-assignment.ts): an owner is who reads all of them. While one member knows no standbys nobody is one, for that
 * member would take a standby for an owner. Who is about to leave gets nothing while others stay: what it has is free, or where it yields
 * and fires it, free as soon as others are warm.
 */
export const coPartitioned: Rule = (all, counts) => {
  // Who reads nothing, or whose metadata nobody can read, would keep its partitions from all others.
  const members = all.filter(({ topics }) => topics.length > 0)
  const widest = Math.max(0, ...counts.values())
  const notes = members.flatMap(({ note }) => note.standby ?? [])
  const knowStandbys = notes.length === members.length
  const staying = members.filter(({ note }) => note.leaving !== true)
  const yielding = staying.length > 0 ? members.filter(({ note }) => note.yields === true) : []
  const standings = (some: readonly GroupRole[]) => some.map((member) => standingOf(member, knowStandbys))
  const wanted = knowStandbys ? Math.max(0, ...notes.map((note) => note.wanted)) : 0
  const known = standings(staying.length > 0 ? staying : members)
  const { owners, copies, awaited } = assignWarm(widest, wanted, known, standings(yielding))
  // What all agree on: who could add a topic to it would make owners of all standbys.
  const [followed = new Set<string>(), ...others] = notes.map((note) => new Set(note.topics))
  for (const topic of followed) if (others.some((topics) => !topics.has(topic))) followed.delete(topic)
  const assignments: Assignments = new Map()
  for (const { memberId, topics, note } of members) {
    const own = owners.get(memberId) ?? []
    const assignment: Record<string, number[]> = {}
    for (const topic of topics) {
      if (!counts.has(topic)) continue
      const besides = followed.has(topic) ? copies : topic === note.standby?.warmth?.topic ? awaited : undefined
      const share = [...own, ...(besides?.get(memberId) ?? [])].sort((a, b) => a - b)
      assignment[topic] = share.filter((partition) => partition < (counts.get(topic) ?? 0))
    }
    assignments.set(memberId, assignment)
  }
  return assignments
}

/** What counts of a member when partitions are shared out. */
function standingOf({ memberId, note }: GroupRole, knowStandbys: boolean) {
  const { owned, generation, standby } = note
  const warmth = knowStandbys ? standby?.warmth : undefined
  return {
    ...{ memberId, owned, generation, host: hostOf(note.instance) },
    ...{ copies: new Map(standby?.copies), following: standby?.following ?? [] },
    warm: warmth && partitionsIn(warmth.warm),
  }
}

/** Of name@host:pid:boot. */
const hostOf = (instance: string): string => instance.slice(instance.lastIndexOf('@') + 1).replace(/(:[^:]*){0,2}$/, '')

/** All partitions of all topics are dealt out in turn to those who read the topic. */
const roundRobin: Rule = (members, counts) => {
  const sorted = [...members].sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
  const assignments: Assignments = new Map(members.map(({ memberId }) => [memberId, {}]))
  let turn = 0
  for (const topic of [...counts.keys()].sort()) {
    const readers = sorted.filter((member) => member.topics.includes(topic))
    if (readers.length === 0) continue
    for (let partition = 0; partition < (counts.get(topic) ?? 0); partition++) {
      const assignment = assignments.get(readers[turn++ % readers.length]?.memberId ?? '')
      if (assignment) assignment[topic] = [...(assignment[topic] ?? []), partition]
    }
  }
  return assignments
}

/** Of each topic by itself, consecutive partitions to each of its readers: partition i of topics with the same readers goes to one member. */
const range: Rule = (members, counts) => {
  const sorted = [...members].sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
  const assignments: Assignments = new Map(members.map(({ memberId }) => [memberId, {}]))
  for (const [topic, count] of counts) {
    const readers = sorted.filter(({ topics }) => topics.includes(topic))
    let next = 0
    for (const [place, { memberId }] of readers.entries()) {
      const size = Math.floor(count / readers.length) + (place < count % readers.length ? 1 : 0)
      const first = next
      next += size
      const assignment = assignments.get(memberId)
      if (assignment) assignment[topic] = Array.from({ length: size }, (_, index) => first + index)
    }
  }
  return assignments
}

const rules: Record<AssignerKind, Rule> = { 'co-partitioned': coPartitioned, 'round-robin': roundRobin, range }

/** Who cannot be read gets nothing, and the others what is theirs. */
function readMember({ memberId, memberMetadata }: GroupMember) {
  const metadata = metadataOf(memberMetadata)
  return { memberId, topics: metadata?.topics ?? [], note: readUserData(memberId, metadata?.userData) }
}
