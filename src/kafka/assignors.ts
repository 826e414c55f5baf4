/**
 * The group protocols. Both carry in each member's metadata a JSON
 * `{ instance, userData, owned, generation }`, which describeGroups shows to anybody (member-note.ts).
 */
import { type Assigner, AssignerProtocol, type Cluster, type GroupMember, type PartitionAssigner } from 'kafkajs'
import { type MemberNote, readNote } from './member-note.ts'
import { sharePartitions } from './shares.ts'
import { shareStandbys } from './standby-shares.ts'

type Assignments = Map<string, Record<string, number[]>>
type Rule = (members: { memberId: string; topics: string[]; note: MemberNote }[], counts: Map<string, number>) => Assignments

/** `note` is asked at each join. */
export function createAssigner(kind: 'co-partitioned' | 'round-robin', note: () => MemberNote): PartitionAssigner {
  const rule = kind === 'co-partitioned' ? coPartitioned : roundRobin
  // kafkajs passes the whole cluster, which its types narrow to a part.
  return ({ cluster }: { cluster: Cluster }): Assigner => ({
    name: `duelog-${kind}`,
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
      name: `duelog-${kind}`,
      metadata: AssignerProtocol.MemberMetadata.encode({ version: 1, topics, userData: Buffer.from(JSON.stringify(note())) }),
    }),
  })
}

/**
 * Partition i of every topic goes to one member and stays there where balance allows. Standbys get some of the topics besides: an owner
 * is who reads all of them. While one member knows no standbys nobody is one, for that member would take a standby for an owner.
 */
const coPartitioned: Rule = (members, counts) => {
  const widest = Math.max(0, ...counts.values())
  const known = members.map(({ memberId, note }) => ({ memberId, note, copies: new Map(note.standby?.copies) }))
  const owners = sharePartitions(
    widest,
    known.map(({ memberId, note, copies }) => ({ memberId, owned: note.owned, generation: note.generation, copies })),
  )
  const notes = members.flatMap(({ note }) => note.standby ?? [])
  const wanted = notes.length < members.length ? 0 : Math.max(0, ...notes.map((note) => note.wanted))
  const followers = known.map(({ memberId, note, copies }) => ({
    memberId,
    host: hostOf(note.instance),
    following: note.standby?.following ?? [],
    copies,
  }))
  const standbys = shareStandbys(widest, wanted, followers, owners)
  const followed = new Set(notes.flatMap(({ topics }) => topics))
  const assignments: Assignments = new Map()
  for (const { memberId, topics } of members) {
    const [own, more] = [owners.get(memberId) ?? [], standbys.get(memberId) ?? []]
    const assignment: Record<string, number[]> = {}
    for (const topic of topics) {
      const share = followed.has(topic) ? [...own, ...more].sort((a, b) => a - b) : own
      assignment[topic] = share.filter((partition) => partition < (counts.get(topic) ?? 0))
    }
    assignments.set(memberId, assignment)
  }
  return assignments
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

function readMember({ memberId, memberMetadata }: GroupMember) {
  const metadata = AssignerProtocol.MemberMetadata.decode(memberMetadata)
  return { memberId, topics: metadata?.topics ?? [], note: readNote(memberId, metadata?.userData) }
}
