/** What `duelog faults` prints and asks. */
import { expect, it } from 'vitest'
import { cannedApi } from './canned-api.ts'

const open = {
  id: '3.2',
  at: '2026-11-25T08:00:00.000Z',
  kind: 'lost',
  what: 'report-7/12',
  detail: 'It has no end.',
  acknowledged: null,
}
const known = { ...open, id: '3.1', acknowledged: { by: 'ann', at: '2026-11-25T09:00:00.000Z', reason: 'drill' } }
const api = cannedApi((request) => ({
  body: request.startsWith('POST')
    ? { acknowledged: 1, unacknowledged: 0 }
    : { recent: [open, known], found: 2, unacknowledged: 1 },
}))
const unknowing = cannedApi(() => ({ body: { acknowledged: 0, unacknowledged: 1, unknown: ['9.9'] } }))

it('lists faults with what operators said, and acknowledges some or all', async () => {
  const { out } = await api.run(['faults', 'list', '--utc'])
  expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['ID', 'FOUND', 'KIND', 'JOB OR RUN', 'ACKNOWLEDGED', 'DETAIL'],
    ['3.2', '2026-11-25T08:00:00Z', 'lost', 'report-7/12', 'It has no end.'],
    ['3.1', '2026-11-25T08:00:00Z', 'lost', 'report-7/12', 'ann, 2026-11-25T09:00:00Z: drill', 'It has no end.'],
    ['2 faults, 1 not acknowledged.'],
    [''],
  ])
  expect((await api.run(['faults', 'list', '--open'])).out).not.toContain('3.1')
  api.asked.length = 0
  expect(await api.run(['faults', 'acknowledge', '3.2', '--reason', 'x'])).toMatchObject({
    out: '1 fault acknowledged, 0 not.\n',
  })
  expect(api.asked).toEqual(['POST /v1/proof/acknowledge'])
  expect(await api.run(['faults', 'acknowledge', '--all', '--reason', 'x'])).toMatchObject({ code: 0 })
  expect(api.asked.slice(1)).toEqual(['GET /v1/proof', 'POST /v1/proof/acknowledge'])
  const { code, err } = await unknowing.run(['faults', 'acknowledge', '9.9', '--reason', 'x'])
  expect([code, err]).toEqual([1, expect.stringContaining('No fault is known as 9.9.')])
  for (const wrong of [['3.2'], ['--reason', 'x'], ['3.2', '--all', '--reason', 'x']])
    expect((await api.run(['faults', 'acknowledge', ...wrong])).code).toBe(2)
})
