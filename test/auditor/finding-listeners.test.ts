/** What the role auditor tells Prometheus, which sees no increase in a series that begins with the first fault. */
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { findingKinds, unjudgedReasons } from '../../src/tools/auditor/findings/findings.ts'
import { findingListenersOf } from '../../src/tools/auditor/role.ts'

it('the metric has each kind of fault and each reason from the start, at 0', async () => {
  const metrics = newMetrics()
  findingListenersOf({ metrics, logger: pino({ level: 'silent' }) })
  const text = await metrics.registry.metrics()
  for (const kind of findingKinds) expect(text).toContain(`duelog_audit_findings_total{kind="${kind}"} 0`)
  for (const reason of unjudgedReasons) expect(text).toContain(`duelog_audit_unjudged_total{reason="${reason}"} 0`)
})
