/** The text of a plan. */
import { expect, it } from 'vitest'
import { planLines } from '../../src/program/cli/jobs/plan-command.ts'
import { timeTextOf } from '../../src/program/cli/terminal/times.ts'

const plain = (_color: string, text: string): string => text
const utc = timeTextOf(true)
const fires = { added: [], removed: [], moved: [], kept: 1, until: '2031-01-01T00:00:00Z' }

it('an unchanged job has no line, unless some of its values were not compared', () => {
  const same = { id: 'a', action: 'UNCHANGED' as const, changed: [], reason: null, fires }
  expect(planLines(undefined, same, { paint: plain, time: utc })).toBe('')
  const lines = planLines(undefined, { ...same, hidden: ['target', 'headers'] }, { paint: plain, time: utc })
  expect(lines).toMatch(
    /^same +a\n {2}warning values of target and headers that a viewer's token cannot see were not compared\n$/,
  )
})

it('its times are shown as the command shows times, with milliseconds if there are any', () => {
  const [from, to, at] = ['2030-01-31T09:00:00.000Z', '2030-01-31T10:00:00.000Z', '2030-01-31T09:00:00.250Z']
  const changed = { ...fires, added: [at], removed: [from], moved: [{ from, to }] }
  const job = { id: 'a', action: 'UPDATE' as const, changed: ['schedule'], reason: `It is due at ${from}.`, fires: changed }
  const text = planLines(undefined, job, { paint: plain, time: (shown, precise) => `<${shown}${precise ? ' precise' : ''}>` })
  expect(text.split('\n')).toEqual([
    `update   a (schedule) It is due at <${from}>.`,
    `  + <${at} precise>`,
    `  - <${from}>`,
    `  ~ <${from}> -> <${to}>`,
    '',
  ])
})
