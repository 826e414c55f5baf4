/**
 * The proofs of all auditors of the system: the one of this process directly, those of others over HTTP. They are the members
 * of the group auditor.
 */
import type { Clock } from '../../clock/index.ts'
import type { LogAdmin, PartitionProof, ProofQueries } from '../../ports/index.ts'
import { shownUrl } from '../guards/index.ts'
import { proofMaxAgeMs } from '../schemas/index.ts'
import { isAway } from './standby-reads.ts'

/** Another process with an auditor. */
export interface RemoteProof {
  proof(): Promise<PartitionProof[]>
  acknowledge: ProofQueries['acknowledge']
}

export interface ProofDirectory {
  /** The proof of each partition that an auditor reads, in ascending order. Calls within a short time share one answer. */
  proofs(): Promise<PartitionProof[]>
  /** Tells all auditors. Resolves with the number of faults that were not acknowledged before. Rejects if one of them cannot be reached. */
  acknowledge: ProofQueries['acknowledge']
}

export interface ProofDirectoryOptions {
  admin: Pick<LogAdmin, 'groupMembers'>
  /** `<prefix>auditor` */
  groupId: string
  local?: ProofQueries | undefined
  /** name@host:pid:boot of this process. */
  instance: string
  remote: (url: string) => RemoteProof
  /** The URL of a member that may be called, from its user data. Default: any URL that it publishes. */
  urlOf?: (userData: unknown) => string | undefined
  /** Partitions of the system. If all are audited here, no other process is called. */
  partitions: number
  clock: Clock
}

export function createProofDirectory(options: ProofDirectoryOptions): ProofDirectory {
  let asking: Promise<PartitionProof[]> | undefined
  let askedAtMs = Number.NEGATIVE_INFINITY
  return {
    proofs() {
      const ageMs = options.clock.nowMs() - askedAtMs
      if (asking === undefined || ageMs < 0 || ageMs >= proofMaxAgeMs) {
        askedAtMs = options.clock.nowMs()
        const asked = ask(options)
        asking = asked
        asked.catch(() => {
          if (asking === asked) asking = undefined
        })
      }
      return asking
    },

    async acknowledge(choice, acknowledgement) {
      const all = [...(options.local === undefined ? [] : [options.local]), ...(await othersOf(options))]
      const counts = await Promise.all(all.map((auditor) => auditor.acknowledge(choice, acknowledgement)))
      asking = undefined
      return counts.reduce((sum, count) => sum + count, 0)
    },
  }
}

/** The auditors of other processes. */
async function othersOf(options: ProofDirectoryOptions): Promise<RemoteProof[]> {
  const { admin, groupId, local, instance, remote, partitions, urlOf = shownUrl } = options
  if (local?.proof().length === partitions) return []
  const members = await admin.groupMembers(groupId)
  const others = members.filter((member) => member.instance !== instance && member.assigned.length > 0)
  return [...new Set(others.flatMap(({ userData }) => urlOf(userData) ?? []))].map(remote)
}

async function ask(options: ProofDirectoryOptions): Promise<PartitionProof[]> {
  const here = options.local?.proof() ?? []
  const answers = await Promise.all(
    (await othersOf(options)).map((auditor) =>
      auditor
        .proof()
        // Its partitions are shown as not audited.
        .catch((error: unknown) => {
          if (!isAway(error)) throw error
          return []
        }),
    ),
  )
  const found = new Map<number, PartitionProof>()
  for (const proof of [...here, ...answers.flat()]) {
    const known = found.get(proof.partition)
    // A partition that has just moved is reported by both.
    if (known === undefined || (proof.judgedUntil ?? 0) > (known.judgedUntil ?? 0)) found.set(proof.partition, proof)
  }
  return [...found.values()].sort((a, b) => a.partition - b.partition)
}
