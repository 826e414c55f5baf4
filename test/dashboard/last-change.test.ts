/** Who changed a job last. */
import { expect, it } from 'vitest'
import type { AuditRecord } from '../../src/answers/index.ts'
import { lastChangeOf } from '../../src/dashboard/model/last-change.ts'

const record = (action: string, version: string | null, outcome = 'DONE') => ({ action, version, outcome }) as AuditRecord

it.each<[string, AuditRecord[], string | undefined, boolean]>([
  ['nobody by the API', [], undefined, false],
  ['a definition that is in force', [record('PUT', '0.7')], 'PUT', false],
  ['a refused change counts as none', [record('PUT', '0.9', 'version-conflict'), record('PUT', '0.7')], 'PUT', false],
  ['a pause after it', [record('PAUSE', null), record('PUT', '0.7')], 'PAUSE', false],
  ['a definition that a later one has replaced', [record('PAUSE', null), record('PUT', '0.6')], 'PAUSE', true],
  ['a batch, whose versions are not in the trail', [record('BATCH', null), record('PUT', '0.6')], 'BATCH', false],
  ['another log', [record('PUT', '1.6')], 'PUT', false],
])('%s', (_, records, action, byProducer) => {
  const last = lastChangeOf(records, '"0.7"')
  expect([last.record?.action, last.byProducer]).toEqual([action, byProducer])
})
