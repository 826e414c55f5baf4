/** What `duelog handlers` prints and asks. */
import { expect, it } from 'vitest'
import { cannedApi } from './canned-api.ts'

const busy = { handler: 'send', runs: 12_000, failed: 300, outcomes: {}, duration: { p50Ms: 120, p95Ms: 61_000 } }
const rare = { handler: 'report', runs: 1, failed: 0, outcomes: {}, duration: null, lateness: null }
const handlers = [{ ...busy, lateness: { p50Ms: 4, p95Ms: 2_500 } }, rare]
const answers = [handlers, handlers, []]
const api = cannedApi(() => ({ body: { from: 'x', to: 'y', handlers: answers.shift() ?? [] } }))

it('shows runs, the share that failed, and the percentiles of duration and lateness', async () => {
  const { code, out } = await api.run(['handlers', '--since', '1h'])
  expect(code).toBe(0)
  expect(out.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['HANDLER', 'RUNS', 'FAILED', 'SHARE', 'DURATION P50', 'P95', 'LATENESS P50', 'P95'],
    ['send', '12,000', '300', '2.5%', '120 ms', '1 min 1 s', '4 ms', '2.5 s'],
    ['report', '1', '0'],
    [''],
  ])
  expect(api.asked).toEqual(['GET /v1/history/handlers'])
  const lines = (await api.run(['handlers', '--json'])).out.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual(handlers)
  expect((await api.run(['handlers'])).out).toBe('No runs.\n')
  expect((await api.run(['handlers', '--from', 'noon'])).code).toBe(2)
})
