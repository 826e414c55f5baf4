/** The text of a plan. */
import { expect, it } from 'vitest'
import { planLines } from '../../src/cli/jobs/plan-text.ts'

const plain = (_color: string, text: string): string => text
const fires = { added: [], removed: [], moved: [], kept: 1, until: '2031-01-01T00:00:00Z' }

it('an unchanged job has no line, unless some of its values were not compared', () => {
  const same = { id: 'a', action: 'UNCHANGED' as const, changed: [], reason: null, fires }
  expect(planLines(undefined, same, plain)).toBe('')
  const lines = planLines(undefined, { ...same, hidden: ['target', 'headers'] }, plain)
  expect(lines).toMatch(
    /^same +a\n {2}warning values of target and headers that a viewer's token cannot see were not compared\n$/,
  )
})
