/** Where auditors and histories are asked: in this process if it has the role, and in others over HTTP, which are the members of its groups. */
import type { Clock } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { HistoryQueries, LogAdmin, PartitionProof, ProofQueries } from '../../ground/ports/index.ts'
import { historyPlacesMaxAgeMs, proofMaxAgeMs } from './limits.ts'
import { shownUrl } from './peer-note.ts'
import { isAway } from './standby-reads.ts'

interface RoleOptions<Remote> {
  /** `<prefix>` and the role. */
  groupId: string
  /** name@host:pid:boot of this process. */
  instance: string
  remote: (url: string) => Remote
  /** The URL of a member that may be called, from its user data. Default: any URL that it publishes. */
  urlOf?: (userData: unknown) => string | undefined
  clock: Pick<Clock, 'steadyMs'>
}

/** The answer of `ask`, shared by the calls of a short time. Failures, and answers that are not worth keeping, are forgotten. */
function remembered<Answer>(
  clock: Pick<Clock, 'steadyMs'>,
  maxAgeMs: number,
  ask: () => Promise<Answer>,
  isWorth: (answer: Answer) => boolean = () => true,
) {
  let known: { answer: Promise<Answer>; atMs: number } | undefined
  const forget = (): void => {
    known = undefined
  }
  const get = (): Promise<Answer> => {
    if (known !== undefined && clock.steadyMs() - known.atMs < maxAgeMs) return known.answer
    const asked = { answer: ask(), atMs: clock.steadyMs() }
    const forgetIt = (): void => {
      if (known === asked) forget()
    }
    known = asked
    asked.answer.then((answer) => isWorth(answer) || forgetIt(), forgetIt)
    return asked.answer
  }
  return { get, forget }
}

/** The other members of a group that may be called, each once. */
function placesOf<Remote>(members: readonly { instance: string; userData: unknown }[], options: RoleOptions<Remote>): string[] {
  const { instance, urlOf = shownUrl } = options
  return [...new Set(members.flatMap((member) => (member.instance === instance ? [] : (urlOf(member.userData) ?? []))))]
}

/** Another process with a history. */
export interface RemoteHistory {
  historyPage: HistoryQueries['page']
  historyCounts: HistoryQueries['counts']
  historyHandlers: HistoryQueries['handlers']
}

export interface HistoryDirectoryOptions extends RoleOptions<RemoteHistory> {
  admin: Pick<LogAdmin, 'groups' | 'groupMembers'>
  local: HistoryQueries | undefined
}

/** The members of the group history, or of history.<instance> where each process has a database of its own. */
export function createHistoryDirectory(options: HistoryDirectoryOptions): HistoryQueries {
  const { admin, groupId, local, remote, clock } = options
  if (local !== undefined) return local
  const find = async (): Promise<string[]> => {
    const groups = (await admin.groups(groupId)).filter((id) => id === groupId || id.startsWith(`${groupId}.`))
    return placesOf((await Promise.all(groups.map((group) => admin.groupMembers(group)))).flat(), options)
  }
  const places = remembered(clock, historyPlacesMaxAgeMs, find, (urls) => urls.length > 0)
  const ask = async <Answer>(question: (history: RemoteHistory) => Promise<Answer>): Promise<Answer> => {
    let problem: unknown
    for (const url of await places.get()) {
      try {
        return await question(remote(url))
      } catch (error) {
        if (!isAway(error)) throw error
        problem = error
      }
    }
    throw problem ?? new DuelogError('not-ready', noHistoryText)
  }
  return {
    page: (filter, limit, before) => ask((history) => history.historyPage(filter, limit, before)),
    counts: (filter, bucketMs) => ask((history) => history.historyCounts(filter, bucketMs)),
    handlers: (from, to) => ask((history) => history.historyHandlers(from, to)),
  }
}

const noHistoryText =
  'No process keeps the history of ended runs. Add history to DUELOG_ROLES of a process with the same tokens as this one.'

export interface ProofDirectory {
  /** The proof of each partition that an auditor reads, in ascending order. Calls within a short time share one answer. */
  proofs(): Promise<PartitionProof[]>
  /** Tells all auditors. Resolves with the number of faults that were not acknowledged before. Rejects if one of them cannot be reached. */
  acknowledge: ProofQueries['acknowledge']
}

/** Another process with an auditor. */
type RemoteProof = Pick<ProofQueries, 'acknowledge'> & { proof(): Promise<PartitionProof[]> }

export interface ProofDirectoryOptions extends RoleOptions<RemoteProof> {
  admin: Pick<LogAdmin, 'groupMembers'>
  local?: ProofQueries | undefined
  /** Partitions of the system. If all are audited here, no other process is called. */
  partitions: number
}

export function createProofDirectory(options: ProofDirectoryOptions): ProofDirectory {
  const { admin, groupId, local, remote, partitions, clock } = options
  const others = async (): Promise<RemoteProof[]> => {
    if (local?.proof().length === partitions) return []
    const members = await admin.groupMembers(groupId)
    return placesOf(
      members.filter(({ assigned }) => assigned.length > 0),
      options,
    ).map(remote)
  }
  const proofs = remembered(clock, proofMaxAgeMs, async () => {
    // The partitions of an auditor that does not answer are shown as not audited.
    const answers = (await others()).map((auditor) => auditor.proof().catch(noneIfAway))
    const found = new Map<number, PartitionProof>()
    for (const proof of [...(local?.proof() ?? []), ...(await Promise.all(answers)).flat()]) {
      const known = found.get(proof.partition)
      // A partition that has just moved is reported by both.
      if (known === undefined || (proof.judgedUntil ?? 0) > (known.judgedUntil ?? 0)) found.set(proof.partition, proof)
    }
    return [...found.values()].sort((a, b) => a.partition - b.partition)
  })
  return {
    proofs: proofs.get,
    async acknowledge(choice, acknowledgement) {
      const all = [...(local === undefined ? [] : [local]), ...(await others())]
      const counts = await Promise.all(all.map((auditor) => auditor.acknowledge(choice, acknowledgement)))
      proofs.forget()
      return counts.reduce((sum, count) => sum + count, 0)
    },
  }
}

function noneIfAway(error: unknown): never[] {
  if (!isAway(error)) throw error
  return []
}
