/** What `duelog audit list` prints and asks. */
import { expect, it } from 'vitest'
import { cannedApi } from './canned-api.ts'

const record = {
  ...{ at: '2026-11-25T08:00:00.000Z', actor: 'deploy', role: 'operator', action: 'PUT', jobId: 'report-7', runNo: null },
  ...{ target: null, filter: null, jobIds: [], outcome: 'DONE', status: 200, version: '0.7', done: null, refused: null },
  ...{ requestId: 'r', address: '10.0.0.1', instance: 'api' },
  changes: [{ field: 'schedule.cron', before: '"0 3 * * *"', after: null }],
}
const paused = { ...record, action: 'PAUSE_MANY', jobId: null, target: '4f2c', filter: '{"tag":"eu"}', changes: [] }
const batch = { ...record, action: 'BATCH', jobId: null, jobIds: ['a', 'b'], changes: [], done: 2, refused: 1 }
const api = cannedApi(() => ({ body: { records: [paused, batch, record], cursor: null } }))

it('lists who changed what, when, and from what to what', async () => {
  const { out } = await api.run(['audit', 'list', '--since', '1h', '--job', 'report-7', '--utc'])
  expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['TIME', 'ACTOR', 'ACTION', 'ON', 'OUTCOME', 'CHANGES'],
    ['2026-11-25T08:00:00Z', 'deploy', 'PAUSE_MANY', '4f2c', 'DONE', 'where {"tag":"eu"}'],
    ['2026-11-25T08:00:00Z', 'deploy', 'BATCH', 'DONE', '2 jobs: a b, 2 changed, 1 refused'],
    ['2026-11-25T08:00:00Z', 'deploy', 'PUT', 'report-7', 'DONE', 'schedule.cron: "0 3 * * *" → —'],
    [''],
  ])
  expect(api.asked).toEqual(['GET /v1/audit'])
  // An option of both commands belongs to the one that it follows.
  const lines = (await api.run(['audit', 'list', '--json'])).out.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual([paused, batch, record])
  expect((await api.run(['audit', 'list', '--from', 'noon'])).code).toBe(2)
})
