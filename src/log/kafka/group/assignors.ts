/**
 * The group protocols. All carry a JSON `{ instance, userData, owned, generation }` in each member's metadata, which
 * describeGroups shows to any client (member-user-data.ts).
 *
 * The broker takes a protocol that all members offer. So workers offer two, the better one first. `range` is the default protocol of
 * clients in other languages: a group falls back to it while such a member is there.
 */
import type { GroupProtocol } from '../client/index.ts'
import { type MemberUserData, partitionsIn, readUserData } from './member-user-data.ts'
import { assignWarm, type Standing } from './target-assignment.ts'

export type AssignerKind = 'co-partitioned' | 'round-robin' | 'range'

type Assignments = Map<string, Record<string, number[]>>
interface GroupRole {
  memberId: string
  topics: string[]
  note: MemberUserData
}
type Rule = (members: GroupRole[], counts: Map<string, number>) => Assignments

/** The name of its protocol. Members of other programs know `range` by its own name. */
export const protocolNameOf = (kind: AssignerKind): string => (kind === 'range' ? kind : `duelog-${kind}`)

/** `note` is called at each join. A member that cannot be read gets nothing, and the others get their share. */
export const protocolOf = (kind: AssignerKind, note: () => MemberUserData): GroupProtocol => ({
  name: protocolNameOf(kind),
  userData: () => Buffer.from(JSON.stringify(note())),
  assign: (members, counts) =>
    rules[kind](
      members.map(({ memberId, topics, userData }) => ({ memberId, topics, note: readUserData(memberId, userData) })),
      counts,
    ),
})

/**
 * Partition i of every topic goes to one member, and stays there if balance allows. Standbys get some of the topics in addition,
 * and one more while they are awaited (target-assignment.ts). The owner is the member that reads all topics. While a foreign member
 * is there, there are no standbys, because that member would take a standby for an owner. A member that is about to leave
 * gets nothing while others stay. Its partitions are free; if it yields and fires them, they become free as soon as another
 * member is warm. What a cooperative member loses goes to nobody until it no longer claims it.
 */
export const coPartitioned: Rule = (all, counts) => {
  // A member that reads nothing, or whose metadata is unreadable, would keep its partitions from all others.
  const members = all.filter(({ topics }) => topics.length > 0)
  const widest = Math.max(0, ...counts.values())
  const notes = members.flatMap(({ note }) => note.standby ?? [])
  const knowStandbys = notes.length === members.length
  const staying = members.filter(({ note }) => note.leaving !== true && note.yields !== true)
  const yielding = staying.length > 0 ? members.filter(({ note }) => note.yields === true) : []
  const standings = (some: readonly GroupRole[]) => some.map((member) => standingOf(member, knowStandbys))
  const wanted = knowStandbys ? Math.max(0, ...notes.map((note) => note.wanted)) : 0
  const known = standings(staying.length > 0 ? staying : members)
  const { owners, toFollow, awaited } = assignWarm(widest, wanted, known, standings(yielding))
  // Only the topics on which all members agree: a member that added a topic would turn all standbys into owners.
  const [followed = new Set<string>(), ...others] = notes.map((note) => new Set(note.topics))
  for (const topic of followed) if (others.some((topics) => !topics.has(topic))) followed.delete(topic)
  const assignments: Assignments = new Map()
  for (const { memberId, topics, note } of members) {
    const own = owners.get(memberId) ?? []
    const assignment: Record<string, number[]> = {}
    for (const topic of topics) {
      if (!counts.has(topic)) continue
      const besides = followed.has(topic) ? toFollow : topic === note.standby?.warmth.topic ? awaited : undefined
      const share = [...own, ...(besides?.get(memberId) ?? [])].sort((a, b) => a - b)
      assignment[topic] = share.filter((partition) => partition < (counts.get(topic) ?? 0))
    }
    assignments.set(memberId, assignment)
  }
  return assignments
}

/** The facts about a member that count in the assignment. Without standbys nobody waits for anybody. */
function standingOf({ memberId, note }: GroupRole, knowStandbys: boolean): Standing {
  const { owned, generation, standby, cooperative = false } = note
  return {
    ...{ memberId, owned, generation, cooperative, host: hostOf(note.instance) },
    ...{ copies: new Map(standby?.copies), following: standby?.following ?? [] },
    warm: knowStandbys ? partitionsIn(standby?.warmth.warm ?? '') : { has: () => true },
  }
}

/** The host of name@host:pid:boot. */
const hostOf = (instance: string): string => instance.slice(instance.lastIndexOf('@') + 1).replace(/(:[^:]*){0,2}$/, '')

/** Deals all partitions of all topics in turn to the members that read the topic. */
const roundRobin: Rule = (members, counts) => {
  const sorted = [...members].sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
  const assignments: Assignments = new Map(members.map(({ memberId }) => [memberId, {}]))
  let dealt = 0
  for (const topic of [...counts.keys()].sort()) {
    const readers = sorted.filter((member) => member.topics.includes(topic))
    if (readers.length === 0) continue
    for (let partition = 0; partition < (counts.get(topic) ?? 0); partition++) {
      const assignment = assignments.get(readers[dealt++ % readers.length]?.memberId ?? '')
      if (assignment) assignment[topic] = [...(assignment[topic] ?? []), partition]
    }
  }
  return assignments
}

/**
 * For each topic, consecutive partitions to each of its readers: partition i of topics with the same readers goes to one member.
 */
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
