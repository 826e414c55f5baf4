/** The proofs of the system's auditors so far. */
import type { FastifyInstance } from 'fastify'
import { isoTime } from '../../../streams/text/index.ts'
import type { PartitionProof } from '../../ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import { internalProofSchema, proofFindingsMax, proofSchema } from '../schemas/index.ts'

export function proofRoutes(instance: FastifyInstance, { proofs, localProof, partitions }: ApiContext): void {
  instance.get('/v1/proof', { config: { role: 'viewer' }, schema: proofSchema }, async () => {
    const found = (await proofs?.proofs()) ?? []
    const all = summaryOf(found, partitions)
    const recent = found.flatMap((proof) => proof.recent).sort((a, b) => b.at - a.at)
    return {
      ...all,
      since: all.since === null ? null : isoTime(all.since),
      judgedUntil: all.judgedUntil === null ? null : isoTime(all.judgedUntil),
      recent: recent.slice(0, proofFindingsMax).map((each) => ({ ...each, at: isoTime(each.at) })),
    }
  })

  instance.get('/internal/v1/proof', { config: { role: 'operator', internal: true }, schema: internalProofSchema }, async () => ({
    proof: localProof?.proof() ?? [],
  }))
}

/** All partitions as one. A time that one partition has not judged is not judged for the whole. */
export function summaryOf(found: readonly PartitionProof[], partitions: number) {
  const sum = (of: (proof: PartitionProof) => number): number => found.reduce((total, proof) => total + of(proof), 0)
  const untils = found.map(({ judgedUntil }) => judgedUntil)
  const isWhole = found.length === partitions && untils.every((until) => until !== null)
  const findings = sumsOf(found.map((proof) => proof.findings))
  return {
    audited: found.length,
    partitions,
    since: found.length === 0 ? null : Math.max(...found.map(({ since }) => since)),
    judgedUntil: isWhole ? Math.min(...untils.map((until) => until ?? 0)) : null,
    behindRecords: sum(({ behindRecords }) => behindRecords),
    records: sum(({ records }) => records),
    unreadable: sum(({ unreadable }) => unreadable),
    runs: sum(({ runs }) => runs),
    occurrences: sum(({ occurrences }) => occurrences),
    found: Object.values(findings).reduce((total, count) => total + count, 0),
    findings,
    unjudged: sumsOf(found.map((proof) => proof.unjudged)),
  }
}

function sumsOf(all: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const counts of all) for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  return sums
}
