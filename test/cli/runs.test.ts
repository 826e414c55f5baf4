/** `duelog runs …` and `duelog schedule preview` against a real system. */
import { describe, expect, it } from 'vitest'
import { expectSentence, systemOfThisFile } from './built-program.ts'

/** Resolved by the handler `announced` when a run of it has started. */
const started = Promise.withResolvers<void>()
const ended = Promise.withResolvers<unknown>()
const dead = Promise.withResolvers<void>()
const released = Promise.withResolvers<void>()
let failures = 0

const bed = systemOfThisFile(
  'runs',
  {},
  {
    announced: (run) => {
      started.resolve()
      return new Promise((_, reject) =>
        run.signal.addEventListener('abort', () => {
          ended.resolve(run.signal.reason)
          reject(run.signal.reason)
        }),
      )
    },
    talking: async ({ log, attempt }) => {
      log('info', `Attempt ${attempt} begins`, { customer: 'a', left: 2 })
      if (attempt === 1) throw new Error('once more')
      await released.promise
      log('warn', 'bell \u0007 and \u001b[2J')
    },
    failing: () => {
      if (++failures === 3) dead.resolve()
      throw new Error('not today')
    },
  },
)

const lines = (...jobs: object[]): string => jobs.map((each) => `${JSON.stringify(each)}\n`).join('')
const once = { schedule: { delayMs: 0 }, retry: { maxAttempts: 1 } }

describe('duelog runs', () => {
  it('cancels a run whose handler is under way', async () => {
    await bed.feed(lines({ id: 'long', ...once, target: { handler: 'announced' } }), 'jobs', 'apply', '-')
    await started.promise
    expect((await bed.run('runs', 'list', 'long', '--json')).json()).toEqual([
      expect.objectContaining({ runId: 'long/1', finishedAt: null }),
    ])
    expect((await bed.run('runs', 'list', '--json')).json()).toMatchObject([{ runId: 'long/1' }])
    expect((await bed.run('runs', 'list', '--state', 'RETRY_WAIT')).out).toBe(
      'No active runs. `duelog history` lists ended ones.\n',
    )
    expect(await bed.run('runs', 'cancel', 'long/1')).toMatchObject({ code: 0, out: 'long/1 is cancelled.\n' })
    expect(await ended.promise).toMatchObject({ name: 'Cancelled' })
    expect((await bed.run('runs', 'get', 'long/1', '--json')).json()).toEqual([expect.objectContaining({ status: 'CANCELLED' })])
  })
  it('lists dead runs of all jobs, shows their errors, and redrives them', async () => {
    const dying = ['dies/a', 'dies/b', 'dies/c'].map((id) => ({ id, ...once, target: { handler: 'failing' }, tags: ['dying'] }))
    await bed.feed(lines(...dying), 'jobs', 'apply', '-')
    await dead.promise
    const list = async (): Promise<unknown[]> =>
      (await bed.run('runs', 'list', '--dead', '--tag', 'dying', '--json'))
        .json()
        .map(({ runId }) => runId)
        .sort()
    // The last failure is thrown a moment before its owner decides on it.
    await expect.poll(list).toEqual(['dies/a/1', 'dies/b/1', 'dies/c/1'])
    const { out } = await bed.run('runs', 'list', '--dead')
    expect(out.split('\n')[1]).toMatch(/^dies\/[abc]\/1 +DEAD .*Error: not today$/)
    expect((await bed.run('runs', 'get', 'dies/a/1')).out).toContain('not today')
    expect(await bed.run('runs', 'redrive', 'dies/a/1')).toMatchObject({ code: 0, out: 'dies/a/1 runs as dies/a/2.\n' })
    expect(
      await bed.run('runs', 'redrive', '--dead', '--tag', 'dying', '--since', '1h', '--error-type', 'Error', '--first', '1'),
    ).toMatchObject({
      code: 0,
      out: '1 redriven.\n',
      err: expect.stringMatching(/^More than 1 dead runs match\./),
    })
  })
  it('shows the lines of a run, and follows them until it has ended', async () => {
    const retry = { backoff: { list: [1_000] } }
    await bed.feed(
      lines({ id: 'says/it', schedule: { delayMs: 0 }, retry, target: { handler: 'talking' } }),
      'jobs',
      'apply',
      '-',
    )
    const shown = () => bed.run('runs', 'logs', 'says/it/1', '--json')
    const counts = async () => (await shown()).out.split('\n').length - 1
    await expect.poll(counts).toBe(2)
    expect((await shown()).json()).toMatchObject([
      { text: 'Attempt 1 begins', attempt: 1, no: 1, level: 'info', fields: { customer: 'a', left: 2 } },
      { text: 'Attempt 2 begins', attempt: 2, no: 1 },
    ])
    const followed = bed.run('runs', 'logs', 'says/it/1', '--follow')
    released.resolve()
    const { code, out, err } = await followed
    expect([code, err]).toEqual([0, ''])
    const [head, ...rows] = out.trimEnd().split('\n')
    expect(head).toBe('TIME                      ATTEMPT  LEVEL  TEXT')
    expect(rows.map((row) => row.slice(24))).toEqual([
      '  1        info   Attempt 1 begins  customer="a" left=2',
      '  2        info   Attempt 2 begins  customer="a" left=2',
      '  2        warn   bell   and  [2J',
    ])
    expect(await bed.run('runs', 'logs', 'says/it/1', '--limit', '2')).toMatchObject({
      err: 'There are more than 2. Use --limit to see more.\n',
    })
    expect((await bed.run('runs', 'logs', 'says/it/1', '--from', '2040-01-01T00:00:00Z')).out).toBe('No lines.\n')
    expect((await bed.run('runs', 'logs', 'nobody/1')).code).toBe(4)
    expectSentence(await bed.run('runs', 'logs', 'nobody'), 'report-7/12')
  })
  it('reports a missing run, and an invalid run ID', async () => {
    expect((await bed.run('runs', 'get', 'nobody/1')).code).toBe(4)
    for (const args of [['get', 'nobody'], ['list', 'a', '--dead'], ['redrive'], ['redrive', 'a/1', '--dead']]) {
      const wrong = await bed.run('runs', ...args)
      expect(wrong.code).toBe(2)
      expectSentence(wrong, args[1] === 'nobody' ? 'report-7/12' : '--dead')
    }
  })
})

describe('duelog schedule preview', () => {
  it('shows the next times and the effects of daylight saving', async () => {
    const args = ['--cron', '30 2 * * *', '--timezone', 'Europe/Paris', '--from', '2030-03-30T12:00:00Z', '--count', '2']
    const { code, out } = await bed.run('schedule', 'preview', '--utc', ...args)
    expect(code).toBe(0)
    expect(out).toMatch(
      /^AT +IN Europe\/Paris +NOTE\n2030-03-31T01:00:00Z +2030-03-31T03:00:00\+02:00 +02:30 does not exist.*\n2030-04-01T00:30:00Z +2030-04-01T02:30:00\+02:00\n$/,
    )
    const west = await bed.run('schedule', 'preview', '--at', '2030-01-01T00:00:00Z')
    expect(west.out).toMatch(/^AT +NOTE\n/)
  })
  it.each([
    ['--rrule', 'FREQ=YEARLY'],
    ['--every-ms', '60000'],
    ['--at', '4102444800000'],
    ['--delay-ms', '5'],
    ['--schedule', '{"everyMs": 60000}'],
  ])('takes %s', async (flag, value) => {
    expect((await bed.run('schedule', 'preview', flag, value, '--count', '1', '--json')).json()).toEqual([
      { at: expect.any(String), atMs: expect.any(Number) },
    ])
  })
  it('requires exactly one valid schedule', async () => {
    for (const args of [[], ['--cron', '* * * * *', '--every-ms', '5']]) {
      const wrong = await bed.run('schedule', 'preview', ...args)
      expect(wrong.code).toBe(2)
      expectSentence(wrong, 'Give one of')
    }
    const bad = await bed.run('schedule', 'preview', '--cron', 'now and then')
    expect(bad.code).toBe(2)
    expectSentence(bad, 'schedule.cron')
  })
})
