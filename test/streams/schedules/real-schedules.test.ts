import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { definitionFromJson } from '../../../streams/definitions/definition-json.ts'
import { countFires, firstFire, occurrences } from '../../../streams/schedules/next-fire.ts'
import { ms } from './samples.ts'

const lines = readFileSync(new URL('../../../examples/kubernetes-ci-periodics.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const dayStart = ms('2025-06-02T00:00:00Z')
const dayEnd = dayStart + 86_400_000

describe('the 688 periodic jobs of the Kubernetes project', () => {
  const jobs = lines.map((line) => {
    const { name, schedule } = JSON.parse(line) as { name: string; schedule: { everyMs?: number; cron?: string } }
    return { name, schedule, read: definitionFromJson({ id: name, schedule, target: { handler: 'noop' } }) }
  })

  it('are all valid definitions', () => {
    expect(jobs).toHaveLength(688)
    expect(jobs.filter(({ read }) => !read.ok)).toEqual([])
  })
  it('all compute a day, each occurrence inside it and the quick count alike', () => {
    let total = 0
    for (const { name, schedule, read } of jobs) {
      if (!read.ok) throw new Error(name)
      const found = [...occurrences(read.definition, dayStart - 1, { from: dayStart, to: dayEnd })]
      expect(found, name).toEqual([...new Set(found)].sort((a, b) => a - b))
      expect(found.length, name).toBe(countFires(read.definition, dayStart - 1, dayStart - 1, dayEnd - 1))
      if (schedule.everyMs !== undefined) expect(found.length, name).toBe(Math.floor(86_400_000 / schedule.everyMs))
      expect(firstFire(read.definition, dayStart - 1), name).not.toBeNull()
      total += found.length
    }
    expect(total).toBeGreaterThan(688)
  })
})
