/** The proofs of the system's auditors so far, and what operators say about the faults that they found. */
import type { FastifyInstance } from 'fastify'
import { isoTime } from '../../../../streams/text/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { FoundFault, PartitionProof } from '../../../ground/ports/index.ts'
import { faultIdOf } from '../../../ground/records/index.ts'
import type { ApiContext } from '../context/index.ts'
import { timeOf } from '../http/index.ts'
import { acknowledgeFaultsSchema, proofFindingsMax, proofSchema } from '../schemas/index.ts'

export function proofRoutes(instance: FastifyInstance, { proofs, partitions, clock }: ApiContext): void {
  instance.get('/v1/proof', { config: { role: 'viewer' }, schema: proofSchema }, async () => {
    const found = (await proofs?.proofs()) ?? []
    const all = summaryOf(found, partitions)
    const recent = found
      .flatMap(({ partition, recent }) => recent.map((fault) => ({ partition, ...fault })))
      .sort((a, b) => b.at - a.at)
    return {
      ...all,
      since: all.since === null ? null : isoTime(all.since),
      judgedUntil: all.judgedUntil === null ? null : isoTime(all.judgedUntil),
      recent: recent.slice(0, proofFindingsMax).map(faultToJson),
    }
  })

  instance.post<{ Body: { ids?: string[]; upTo?: string; reason: string } }>(
    '/v1/proof/acknowledge',
    { config: { role: 'operator', audit: 'ACKNOWLEDGE_FAULT' }, schema: acknowledgeFaultsSchema },
    async (request) => {
      const { ids, upTo, reason } = request.body
      if ((ids === undefined) === (upTo === undefined))
        throw new DuelogError('bad-request', 'Give either ids or upTo: which faults are acknowledged.')
      const choice = ids === undefined ? { upTo: timeOf('upTo', upTo ?? '') } : { ids }
      const acknowledgement = { by: request.actor ?? 'local', at: clock.nowMs(), reason }
      const acknowledged = (await proofs?.acknowledge(choice, acknowledgement)) ?? 0
      request.audited = { done: acknowledged }
      const found = (await proofs?.proofs()) ?? []
      const listed = new Set(found.flatMap(({ partition, recent }) => recent.map(({ no }) => no && faultIdOf(partition, no))))
      const unknown = ids?.filter((id) => !listed.has(id)) ?? []
      return {
        acknowledged,
        unacknowledged: summaryOf(found, partitions).unacknowledged,
        ...(unknown.length > 0 && { unknown }),
      }
    },
  )
}

function faultToJson({ partition, no, at, acknowledged, ...fault }: FoundFault & { partition: number }) {
  return {
    id: faultIdOf(partition, no),
    ...{ ...fault, at: isoTime(at) },
    acknowledged: acknowledged === undefined ? null : { ...acknowledged, at: isoTime(acknowledged.at) },
  }
}

/** All partitions as one. A time that one partition has not judged is not judged for the whole. */
export function summaryOf(found: readonly PartitionProof[], partitions: number) {
  const sum = (of: (proof: PartitionProof) => number): number => found.reduce((total, proof) => total + of(proof), 0)
  const untils = found.map(({ judgedUntil }) => judgedUntil)
  const isWhole = found.length === partitions && untils.every((until) => until !== null)
  const findings = sumsOf(found.map((proof) => proof.findings))
  const known = totalOf(findings)
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
    found: known,
    unacknowledged: known - totalOf(sumsOf(found.map(({ acknowledged = {} }) => acknowledged))),
    findings,
    unjudged: sumsOf(found.map((proof) => proof.unjudged)),
  }
}

const totalOf = (counts: Record<string, number>): number => Object.values(counts).reduce((total, count) => total + count, 0)

function sumsOf(all: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const counts of all) for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  return sums
}
