/** `duelog schedule diff-tz` against a fake Duelog in which Vancouver still has winter time, like Los Angeles. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'
import { occurrences } from '../../streams/schedules/next-fire.ts'
import { duelogHere, type Ended } from './built-program.ts'

const winter = Date.UTC(2027, 0, 15, 10, 30)
const hour = 3_600_000
const iso = (at: number): string => new Date(at).toISOString()

interface Answered {
  id: string
  status: string
  nextFireAt: string | null
  skipped: number
  definition: unknown
  place: unknown
}

/** A job due at 02:30 of the old rules. */
function job(id: string, schedule: object = {}, more: Partial<Answered> = {}): Answered {
  const definition = { schedule: { cron: '30 2 * * *', timezone: 'America/Vancouver', ...schedule }, target: { handler: 'noop' } }
  const decidedFor = { at: iso(winter - 24 * hour), offsetMs: -8 * hour }
  const place = { anchorAt: iso(winter - 400 * 24 * hour), decidedFor, latestFiredFor: decidedFor.at }
  return { id, status: 'ACTIVE', nextFireAt: iso(winter), skipped: 0, definition, place, ...more }
}

const inParis = job(
  'in-paris',
  { timezone: 'Europe/Paris', cron: '30 11 * * *' },
  {
    place: {
      anchorAt: iso(winter - 400 * 24 * hour),
      decidedFor: { at: iso(winter - 24 * hour), offsetMs: hour },
      latestFiredFor: null,
    },
  },
)

async function diff(pages: Iterable<Answered[]>, ...args: string[]): Promise<Ended & { asked: string[] }> {
  const asked: string[] = []
  const source = pages[Symbol.iterator]()
  let next = source.next()
  const server = createServer((request, response) => {
    asked.push((request.url ?? '').split('?')[0] ?? '')
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      let answer: object = { partitions: [{ zoneRules: '2025c' }, { zoneRules: '2025c' }, { zoneRules: null }] }
      if (request.url?.startsWith('/v1/jobs')) {
        const jobs = next.done === true ? [] : next.value
        next = source.next()
        answer = { jobs, cursor: next.done === true ? null : 'more' }
      } else if (request.url === '/v1/schedules/preview') {
        const { schedule, count } = JSON.parse(body)
        const timezone = schedule.timezone === 'America/Vancouver' ? 'America/Los_Angeles' : schedule.timezone
        const read = completeDefinition({ schedule: { ...schedule, timezone }, target: { handler: 'noop' } })
        const from = Date.UTC(2026, 5, 1)
        answer = { fires: [...occurrences(read, from, { from: from + 1, max: count })].map((atMs) => ({ at: iso(atMs), atMs })) }
      }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { ...(await duelogHere(['schedule', 'diff-tz', '--url', url, ...args], { env: {} })), asked }
}

describe('duelog schedule diff-tz', () => {
  it('shows which jobs move, by how much, and from when on', async () => {
    const jobs = [
      job('daily'),
      job('hourly', { cron: '30 * * * *' }, { place: { anchorAt: iso(winter - hour), decidedFor: null, latestFiredFor: null } }),
      job('interval', { cron: undefined, everyMs: 5_000 }),
      inParis,
      job('done', {}, { status: 'COMPLETED', nextFireAt: null }),
    ]
    const { code, out, err } = await diff([jobs], '--utc')
    expect({ code, err }).toEqual({ code: 1, err: '' })
    const [head, daily, hourly, ...rest] = out.split('\n')
    expect(head).toMatch(/^ID +SCHEDULE +NEXT +BY NEW RULES +BY +RULES DIFFER FROM$/)
    expect(daily).toMatch(
      /^daily +cron 30 2 \* \* \* America\/Vancouver +2027-01-15T10:30:00Z +2027-01-15T09:30:00Z +-01:00 +2026-11-01$/,
    )
    expect(hourly).toMatch(/^hourly .* the same +2026-11-01$/)
    expect(rest).toEqual([
      'America/Vancouver: 1 moves at its next time, 1 may move later, rules differ from 2026-11-01',
      expect.stringMatching(
        /^Rules of the cluster: 2025c; of this Node: \w+\. Of 3 jobs in time zones 1 moves at its next time, 1 may move after it\.$/,
      ),
      '',
    ])
  })
  it('gives a line of JSON for each of them', async () => {
    expect((await diff([[job('daily')]], '--json')).json()).toEqual([
      {
        ...{ id: 'daily', timezone: 'America/Vancouver', from: '2027-01-15T10:30:00.000Z', to: '2027-01-15T09:30:00.000Z' },
        ...{ byMs: -hour, rulesDifferFrom: '2026-11-01T20:00:00.000Z' },
      },
    ])
  })
  it('exits with 0 when no job moves', async () => {
    const { code, out } = await diff([[inParis]])
    expect(code).toBe(0)
    expect(out).toMatch(/None of 1 job in a time zone moves\.\n$/)
  })
  it('holds only one page of jobs and one line per zone in memory', async () => {
    const pagesCount = 30
    function* pages(): Generator<Answered[]> {
      for (let page = 0; page < pagesCount; page++) {
        yield Array.from({ length: 1_000 }, (_, index) => job(`job-${page}-${index}`))
      }
    }
    const { code, out, err, asked } = await diff(pages(), '--limit', '10')
    expect(code).toBe(1)
    expect(out.split('\n')).toHaveLength(1 + 10 + 1 + 1 + 1)
    expect(out).toContain('America/Vancouver: 30,000 move at their next time')
    expect(err).toBe('29,990 more are not shown; see --limit.\n')
    // Each zone is requested once.
    expect(asked.filter((path) => path === '/v1/schedules/preview')).toHaveLength(1)
    expect(asked.filter((path) => path === '/v1/jobs')).toHaveLength(pagesCount)
  })
})
