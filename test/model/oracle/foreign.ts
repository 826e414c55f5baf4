/** Checks of foreign schedules: each valid one is one record in `jobs`, and no other record there names it as its origin. */
import type { MemoryLog } from '../../tools/memory-log.ts'
import { headerNames, shown, topics } from './reading.ts'

/** The topics of the simulated cluster with schedules of other schedulers, in the formats of these (docs/TARGETS.md). */
const foreign = { etf1: 'foreign.etf1', karafka: 'foreign.karafka' } as const
const sourceHeader = 'duelog-source'

export function foreignProblems(log: MemoryLog): string[] {
  const taken = new Map<string, number>()
  for (const { record } of shown(log, topics.jobs)) {
    const source = record?.headers[sourceHeader]?.toString()
    if (source === undefined || record?.headers[headerNames.moved] !== undefined) continue
    taken.set(source, (taken.get(source) ?? 0) + 1)
  }
  const problems: string[] = []
  for (const [dialect, topic] of Object.entries(foreign) as [keyof typeof foreign, string][]) {
    for (const { record } of shown(log, topic)) {
      if (record === undefined) continue
      const place = `${topic}/${record.partition}/${record.offset}`
      const [count, expected] = [taken.get(place) ?? 0, isTaken[dialect](record) ? 1 : 0]
      taken.delete(place)
      if (count !== expected) problems.push(`${place} became ${count} records on jobs instead of ${expected}`)
    }
  }
  for (const place of taken.keys()) problems.push(`A job came from ${place}, where nothing was written`)
  return problems
}

interface Foreign {
  key: Buffer | null
  value: Buffer | null
  headers: Record<string, Buffer>
}

const isSeconds = (text: Buffer | undefined): boolean => text !== undefined && /^\d+$/.test(text.toString())

const isTaken = {
  etf1: ({ key, value, headers }: Foreign): boolean => {
    if (value === null) return key !== null && key.length > 0
    return isSeconds(headers['scheduler-epoch']) && headers['scheduler-target-topic'] !== undefined
  },
  karafka: ({ key, headers }: Foreign): boolean => {
    if (key === null || key.length === 0 || !headers.schedule_schema_version?.toString().startsWith('1.')) return false
    if (headers.schedule_source_type?.toString() !== 'schedule') return true
    return isSeconds(headers.schedule_target_epoch) && headers.schedule_target_topic !== undefined
  },
}
