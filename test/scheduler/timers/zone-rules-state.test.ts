/** The log messages about the time zone rules of a partition's owners, one claim after another. */
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { newMetrics } from '../../../src/ground/metrics/metrics.ts'
import { ZoneRulesState } from '../../../src/scheduler/timers/zone-rules.ts'

it('a warning of other rules names the remedy, once', () => {
  const lines: { level: number; msg: string }[] = []
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const zones = new ZoneRulesState(0, { zoneRules: '2026c', metrics: newMetrics(), logger })
  zones.claimed('2025a')
  expect(lines[0]).toMatchObject({ level: 40, msg: expect.stringMatching(/2025a.*2026c.*Give all processes the same Node/) })
  zones.claimed('2025a')
  zones.claimed('2026c')
  expect(lines).toHaveLength(1)
})

it('a partition that this process no longer reads does not count as one with other rules', async () => {
  const metrics = newMetrics()
  const zones = new ZoneRulesState(0, { zoneRules: '2026c', metrics, logger: pino({ level: 'silent' }) })
  const differ = async () => (await metrics.zoneRulesDiffer.get()).values
  zones.claimed('2025a')
  expect(await differ()).toEqual([{ labels: { partition: 0 }, value: 1 }])
  zones.end()
  expect(await differ()).toEqual([{ labels: { partition: 0 }, value: 0 }])
})
