/** Checks of receipts: each request is answered once, whatever died, and not again after a store was rebuilt. */
import type { MemoryLog } from '../../tools/memory-log.ts'
import { headerNames, shown, topics } from './reading.ts'

/** `exact`: no record was removed by compaction before an owner had read it. */
export function receiptProblems(log: MemoryLog, exact: boolean): string[] {
  const answers = new Map<string, number>()
  for (const id of correlations(log, 'replies')) answers.set(id, (answers.get(id) ?? 0) + 1)
  // A moved record asks in both partitions; it is one request.
  const asked = new Set(correlations(log, topics.jobs))
  const problems: string[] = []
  for (const [id, count] of answers) {
    if (count > 1) problems.push(`Receipt ${id} was sent ${count} times.`)
    if (!asked.has(id)) problems.push(`Receipt ${id} answers nobody.`)
  }
  if (exact) for (const id of asked) if (!answers.has(id)) problems.push(`Who asked with ${id} was not answered.`)
  return problems
}

function correlations(log: MemoryLog, topic: string): string[] {
  return shown(log, topic).flatMap(({ record }) => record?.headers[headerNames.correlationId]?.toString() ?? [])
}
