/** The routes of the history: what they ask the database, what they show, and where they ask. */
import { describe, expect, it } from 'vitest'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { HistoryFilter, HistoryQueries } from '../../src/ground/ports/roles.ts'
import { createHistoryDirectory, type RemoteHistory } from '../../src/server/peers/role-directories.ts'
import { endedRun } from '../history/runs.ts'
import { ManualClock, VirtualTime } from '../tools/manual-clock.ts'
import { apiTokens, operator, viewer } from './attackers.ts'
import { createSystem, nowMs } from './system-in-memory.ts'

const texts = { errorType: 'T', errorMessage: 'm', note: 'n', result: Buffer.from('{"a":1}') }

class AskedHistory implements HistoryQueries {
  readonly filters: HistoryFilter[] = []
  readonly pages: [limit: number, before: string | null][] = []
  readonly ranges: [from: number, to: number, bucketMs: number][] = []
  async page(filter: HistoryFilter, limit: number, before: string | null) {
    this.filters.push(filter)
    this.pages.push([limit, before])
    const runs = [endedRun({ ...texts, mayHoldSecrets: true }), endedRun({ ...texts, mayHoldSecrets: false, startedAt: null })]
    return { runs, next: '1234567890123456789', searchedTo: nowMs }
  }
  async counts(filter: HistoryFilter & { from: number; to: number }, bucketMs: number) {
    this.filters.push(filter)
    this.ranges.push([filter.from, filter.to, bucketMs])
    return { buckets: [1, 2].map((at) => ({ at, outcomes: { DEAD: at } })), countedFrom: 1 }
  }
  async handlers(from: number, to: number) {
    this.ranges.push([from, to, 0])
    const outcomes = { SUCCEEDED: 6, DEAD: 1, EXPIRED: 1, CANCELLED: 2, SKIPPED: 9 }
    const skipping = { handler: 'skips', outcomes: { SUCCEEDED: 9, SKIPPED: 90 }, duration: null, lateness: null }
    return [skipping, { handler: 'send', outcomes, duration: { p50Ms: 5, p95Ms: 9 }, lateness: null }]
  }
}

const openSystem = () => {
  const history = new AskedHistory()
  const system = createSystem({ apiTokens, history, localHistory: history })
  const get = async (url: string, headers: Record<string, string> = operator) =>
    (await system.api.instance.inject({ url, headers })).json()
  /** What another process asks. `args`: JSON, or its values. */
  const called = (call: string, args: unknown[] | string, headers?: Record<string, string>) =>
    get(`/internal/v1/${call}?args=${encodeURIComponent(typeof args === 'string' ? args : JSON.stringify(args))}`, headers)
  return { history, get, called, [Symbol.asyncDispose]: () => system.api.stop() }
}

describe('GET /v1/history', () => {
  it('shows texts that may hold secrets to operators, and masks to viewers', async () => {
    await using system = openSystem()
    const whole = { errorType: 'T', errorMessage: 'm', note: 'n', result: { a: 1 } }
    const masked = { errorType: '***', errorMessage: '***', note: '***', result: '***' }
    expect((await system.get('/v1/history')).runs).toMatchObject([whole, whole])
    expect((await system.get('/v1/history', viewer)).runs).toMatchObject([masked, whole])
    expect((await system.get('/v1/history')).runs.map(({ durationMs }: { durationMs: unknown }) => durationMs)).toEqual([
      10,
      null,
    ])
  })

  it('lets viewers search errors only where they see them', async () => {
    await using system = openSystem()
    for (const query of ['errorText=s', 'errorType=T', 'handler=echo']) await system.get(`/v1/history?${query}`, viewer)
    await system.get('/v1/history/counts?errorText=s', viewer)
    await system.get('/v1/history?errorText=s')
    expect(system.history.filters.map(({ harmless }) => harmless)).toEqual([true, true, undefined, true, undefined])
  })

  it('hands on filter, limit and the place of a cursor', async () => {
    await using system = openSystem()
    const { cursor, searchedTo } = await system.get('/v1/history')
    expect(searchedTo).toBe('2030-01-01T00:00:00.000Z')
    await system.get(`/v1/history?limit=7&cursor=${cursor}&from=5&to=1970-01-01T00:00:00.009Z&idPrefix=x%2Fy&minDurationMs=3`)
    expect(system.history.pages).toEqual([
      [100, null],
      [7, '1234567890123456789'],
    ])
    expect(system.history.filters[1]).toEqual({ from: 5, to: 9, idPrefix: 'x/y', minDurationMs: 3 })
  })

  it('answers other processes in full, and nobody else', async () => {
    await using system = openSystem()
    const page = [{ tag: 'a' }, 2, null]
    expect(await system.called('historyPage', page, viewer)).toMatchObject({ code: 'forbidden' })
    const { answer } = await system.called('historyPage', page)
    expect(answer.runs[0]).toMatchObject({ errorMessage: 'm', result: { $bytes: Buffer.from('{"a":1}').toString('base64') } })
  })
})

describe('what other processes ask', () => {
  const range = { from: 0, to: 60_000 }
  const refused: [call: string, args: unknown[] | string][] = [
    ...['{', 'null', '[]', '{}', '7', '"x"'].map((args): [string, string] => ['historyPage', args]),
    ...[[{}], [{}, 1], [{}, 1e9, null], [{}, 0, null], [{}, 1, 'x'], [{}, 1, '9223372036854775808'], [{}, 1, null, 1]].map(
      (args): [string, unknown[]] => ['historyPage', args],
    ),
    ...[{ tag: {} }, { other: 'x' }, { from: 'x' }, null].map((filter): [string, unknown[]] => [
      'historyPage',
      [filter, 1, null],
    ]),
    ...[
      [range, 0],
      [{ to: 1 }, 60_000],
      [{ from: 0, to: 1e15 }, 60_000],
    ].map((args): [string, unknown[]] => ['historyCounts', args]),
  ]
  it('is refused if it is no such question, or asks for more', async () => {
    await using system = openSystem()
    for (const [call, args] of refused)
      expect(await system.called(call, args), `${call} ${JSON.stringify(args)}`).toMatchObject({ code: 'bad-request' })
    expect(system.history.filters).toEqual([])
  })

  it('is answered within the limits of the public parameters', async () => {
    await using system = openSystem()
    expect((await system.called('historyPage', [{}, 1_000, '12'])).answer.runs).toHaveLength(2)
    expect((await system.called('historyCounts', [range, 60_000])).answer.buckets).toHaveLength(2)
  })
})

describe('GET /v1/history/handlers', () => {
  it('says how many runs of a handler failed, and how long they took, in whole hours', async () => {
    await using system = openSystem()
    const hourMs = 3_600_000
    const end = Math.ceil(nowMs / hourMs) * hourMs
    expect(await system.get('/v1/history/handlers', viewer)).toMatchObject({
      to: new Date(end).toISOString(),
      handlers: [
        { handler: 'send', runs: 10, failed: 2, duration: { p50Ms: 5, p95Ms: 9 }, lateness: null },
        { handler: 'skips', runs: 9 },
      ],
    })
    expect(await system.get(`/v1/history/handlers?from=${nowMs - 40 * 24 * hourMs}`)).toMatchObject({ code: 'bad-request' })
    expect(system.history.ranges).toEqual([[end - 24 * hourMs, end, 0]])
    expect(await system.called('historyHandlers', [0, 100 * 24 * hourMs])).toMatchObject({ code: 'bad-request' })
    expect(await system.called('historyHandlers', [0, hourMs])).toMatchObject({
      answer: [{ handler: 'skips' }, { handler: 'send' }],
    })
  })
})

describe('GET /v1/history/counts', () => {
  it('widens the range to whole buckets, the last 24 h by default', async () => {
    await using system = openSystem()
    const hour = 3_600_000
    await system.get('/v1/history/counts')
    await system.get(`/v1/history/counts?from=${nowMs + 1}&to=${nowMs + hour + 1}`)
    await system.get(`/v1/history/counts?from=1&to=2&bucketMs=60000`)
    expect(system.history.ranges).toEqual([
      [nowMs - 24 * hour, nowMs, hour],
      [nowMs, nowMs + 2 * hour, hour],
      [0, 60_000, 60_000],
    ])
    expect(await system.get('/v1/history/counts')).toMatchObject({ total: { DEAD: 3 }, countedFrom: '1970-01-01T00:00:00.001Z' })
  })
})

describe('the directory of histories', () => {
  const page = { runs: [], next: null, searchedTo: null }
  const open = (remotes: Record<string, () => Promise<unknown>>, groups = ['d.history.a', 'd.history.b', 'd.historyx']) => {
    const asked: string[] = []
    const remote = (url: string): RemoteHistory => {
      const answer = (): Promise<never> => {
        asked.push(url)
        return (remotes[url]?.() ?? Promise.resolve(page)) as Promise<never>
      }
      return { historyPage: answer, historyCounts: answer, historyHandlers: answer }
    }
    let lookups = 0
    const admin = {
      groups: async () => {
        lookups++
        return groups
      },
      groupMembers: async (group: string) => [
        { memberId: group, instance: group, userData: { url: `http://${group}` }, assigned: [] },
      ],
    }
    const clock = new ManualClock(new VirtualTime())
    const directory = createHistoryDirectory({ admin, groupId: 'd.history', local: undefined, instance: 'me', remote, clock })
    return { directory, asked, lookups: () => lookups }
  }

  it('asks the next process if one is away, and remembers where they are', async () => {
    const away = () => Promise.reject(new DuelogError('not-ready', 'It is away.'))
    const { directory, asked, lookups } = open({ 'http://d.history.a': away })
    expect(await directory.page({}, 1, null)).toBe(page)
    await directory.page({}, 1, null)
    expect(asked).toEqual(['http://d.history.a', 'http://d.history.b', 'http://d.history.a', 'http://d.history.b'])
    expect(lookups()).toBe(1)
  })

  it('passes on a refusal, and names the setting if nobody has the role', async () => {
    const refused = () => Promise.reject(new DuelogError('overloaded', 'It is busy.'))
    await expect(open({ 'http://d.history.a': refused }).directory.page({}, 1, null)).rejects.toMatchObject({
      code: 'overloaded',
    })
    const nobody = open({}, []).directory.counts({ from: 0, to: 1 }, 1)
    await expect(nobody).rejects.toMatchObject({ code: 'not-ready', message: expect.stringContaining('DUELOG_ROLES') })
  })
})
