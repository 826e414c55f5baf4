/** `duelog jobs …` against a real system. */
import { describe, expect, it } from 'vitest'
import { expectSentence, systemOfThisFile } from './built-program.ts'

const bed = systemOfThisFile('jobs')

const far = '2100-01-01T00:00:00Z'
const job = (id: string, more: object = {}): object => ({ id, schedule: { at: far }, target: { handler: 'noop' }, ...more })
const lines = (...jobs: object[]): string => jobs.map((each) => `${JSON.stringify(each)}\n`).join('')

describe('duelog jobs apply', () => {
  it('creates the jobs of a YAML file with lists and documents', async () => {
    const file = await bed.file(
      'jobs.yaml',
      [
        '# two in a list, one by itself',
        '- id: yaml-1',
        '  schedule: { cron: "0 9 * * MON-FRI", timezone: Europe/Paris }',
        '  target: &log { handler: log }',
        '- { id: yaml-2, schedule: { everyMs: 86400000 }, target: *log }',
        '---',
        'id: yaml-3',
        `schedule: { at: ${far} }`,
        'target: { handler: noop }',
        'payload: { text: "no: 1" }',
      ].join('\n'),
    )
    expect(await bed.run('jobs', 'apply', file)).toMatchObject({ code: 0, out: '3 jobs applied\n', err: '' })
    const [found] = (await bed.run('jobs', 'get', 'yaml-3', '--json')).json()
    expect(found).toMatchObject({ id: 'yaml-3', status: 'ACTIVE', definition: { payload: { text: 'no: 1' } } })
  })
  it('keeps all digits of numbers from YAML, JSON and NDJSON, and prints them again', async () => {
    const files = [
      await bed.file(
        'exact.yaml',
        `id: exact-1\nschedule: { at: ${far} }\ntarget: { handler: noop }\npayload: { n: 9007199254740993, price: 1.10, mask: 0x1FFFFFFFFFFFFFFFFF, half: +.50 }\n`,
      ),
      await bed.file(
        'exact.json',
        `[\n  {"id":"exact-2","schedule":{"at":"${far}"},"target":{"handler":"noop"},\n   "payload": {\n "n": 9007199254740993, "price": 1.10 }}]`,
      ),
      await bed.file(
        'exact.ndjson',
        `{"id":"exact-3","schedule":{"at":"${far}"},"target":{"handler":"noop"},"payload":{ "n": 9007199254740993, "price": 1.10 }}\n`,
      ),
    ]
    expect(await bed.run('jobs', 'apply', ...files)).toMatchObject({ code: 0, out: '3 jobs applied\n' })
    const payloads = [
      '{"n":9007199254740993,"price":1.10,"mask":590295810358705651711,"half":0.50}',
      '{"n":9007199254740993,"price":1.10}',
      '{ "n": 9007199254740993, "price": 1.10 }',
    ]
    for (const [index, payload] of payloads.entries()) {
      const { out } = await bed.run('jobs', 'get', `exact-${index + 1}`, '--definition')
      expect(out).toContain(`"payload": ${payload}`)
      const again = await bed.file(`again-${index}.json`, out)
      expect((await bed.run('jobs', 'plan', '--json', again)).json()).toMatchObject([{ action: 'UNCHANGED' }])
    }
    const twice = await bed.file('twice.json', '{"id":"a","payload":{"b":1,"b":2}}')
    expectSentence(await bed.run('jobs', 'apply', twice), 'payload.b')
    const infinite = await bed.file('infinite.yaml', 'id: a\npayload: [1, .inf]\n')
    expectSentence(await bed.run('jobs', 'apply', infinite), 'a number that JSON cannot represent')
  })
  it('takes NDJSON from standard input, blank lines and a last line without its end included', async () => {
    const input = `${lines(job('in-1'))}\n\r\n${JSON.stringify(job('in-2'))}`
    expect(await bed.feed(input, 'jobs', 'apply', '-')).toMatchObject({ code: 0, out: '2 jobs applied\n' })
  })
  it('prints file, line, ID and reason of each refused job, applies the others and fails', async () => {
    const file = await bed.file(
      'some.ndjson',
      `${lines(job('good-1'), job('bad-1', { schedule: { cron: '99 * * * *' } }))}not json\n`,
    )
    const { code, out, err } = await bed.run('jobs', 'apply', file)
    expect({ code, out }).toEqual({ code: 1, out: '1 job applied, 2 refused\n' })
    expect(err).toContain(`refused ${file}:2 bad-1: schedule.cron`)
    expect(err).toContain(`refused ${file}:3 (no id): `)
  })
  it('says which jobs are INVALID although they were written, and fails', async () => {
    const file = await bed.file(
      'invalid.ndjson',
      lines(job('fine-1'), job('astray-1', { target: { topic: { name: 'not-allowed' } } })),
    )
    const { code, out, err } = await bed.run('jobs', 'apply', file)
    expect({ code, out }).toEqual({ code: 1, out: '2 jobs applied\n' })
    expect(err).toMatch(/^invalid astray-1: [^\n]*not-allowed[^\n]*\n$/)
    expect((await bed.run('jobs', 'apply', '--json', file)).json().at(-1)).toMatchObject({ id: 'astray-1', status: 'INVALID' })
  })
  it('gives one line of JSON for each job of several files, with its place', async () => {
    const first = await bed.file('first.ndjson', lines(job('json-1')))
    const second = await bed.file('second.json', JSON.stringify([job('json-2'), { id: 'json-3' }], null, 2))
    const ended = await bed.run('jobs', 'apply', '--json', first, second)
    expect(ended).toMatchObject({ code: 1, err: '' })
    expect(ended.json()).toEqual([
      expect.objectContaining({ file: first, line: 1, ok: true, id: 'json-1' }),
      expect.objectContaining({ file: second, line: 2, ok: true, id: 'json-2' }),
      expect.objectContaining({ file: second, ok: false, id: 'json-3', code: 'bad-definition' }),
    ])
  })
  it('takes 20,000 jobs in one go', async () => {
    const text = lines(...Array.from({ length: 20_000 }, (_, index) => job(`many-${index}`, { tags: ['many'] })))
    const file = await bed.file('many.ndjson', text)
    expect(await bed.run('jobs', 'apply', file)).toMatchObject({ code: 0, out: '20,000 jobs applied\n' })
  })
  it('reads YAML and JSON documents from standard input, whose first line shows the format', async () => {
    const yaml = `# a comment\n- id: in-1\n  schedule: { at: ${far} }\n  target: { handler: noop }\n`
    const documents = [
      yaml,
      `\n${JSON.stringify([job('in-2')], null, 2)}`,
      JSON.stringify(job('in-3'), null, 2),
      lines(job('in-4')),
    ]
    for (const text of documents)
      expect(await bed.feed(text, 'jobs', 'apply', '-')).toMatchObject({ code: 0, out: '1 job applied\n' })
    for (const no of [1, 2, 3, 4]) expect((await bed.run('jobs', 'get', `in-${no}`)).code).toBe(0)
    expectSentence(await bed.feed('', 'jobs', 'apply', '-'), 'no job')
    expect((await bed.feed('{"id": "broken"\n', 'jobs', 'apply', '-')).code).toBe(1)
  })
  it('refuses files that are missing, of an unknown format, or broken, before anything is sent', async () => {
    const [unknown, broken, scalar, empty] = [
      await bed.file('jobs.txt', lines(job('never'))),
      await bed.file('broken.yaml', '- id: a\n  schedule: {\n- id: b'),
      await bed.file('scalar.yaml', 'id: never\n---\n5\n'),
      await bed.file('empty.ndjson', '\n\n'),
    ]
    for (const [file, words] of [
      ['nowhere.yaml', 'cannot be read'],
      [unknown, '--format'],
      [broken, `${broken}:`],
      [empty, 'no job'],
    ] as const) {
      const ended = await bed.run('jobs', 'apply', file)
      expect(ended.code).toBe(2)
      expectSentence(ended, words)
    }
    expect(await bed.run('jobs', 'apply', scalar)).toMatchObject({ code: 2, err: expect.stringContaining(`${scalar}:3`) })
    expect(await bed.run('jobs', 'apply', '--format', 'ndjson', unknown)).toMatchObject({ code: 0 })
  })
})

describe('duelog jobs put', () => {
  const put = (...args: string[]) => bed.run('jobs', 'put', ...args)

  it('creates a job from flags, and replaces it', async () => {
    const flags = ['--cron', '0 9 * * MON-FRI', '--timezone', 'Europe/Paris', '--handler', 'noop', '--payload', '{"n": 1.10}']
    expect(await put('p-1', ...flags, '--tag', 'a', 'b', '--fields', '{"retry": {"maxAttempts": 2}}')).toMatchObject({
      ...{ code: 0, out: 'p-1 is active.\n', err: '' },
    })
    const [found] = (await bed.run('jobs', 'get', 'p-1', '--json')).json()
    expect(found).toMatchObject({
      definition: {
        ...{ schedule: { cron: '0 9 * * MON-FRI', timezone: 'Europe/Paris' }, target: { handler: 'noop' } },
        ...{ tags: ['a', 'b'], retry: { maxAttempts: 2 }, payload: { n: 1.1 } },
      },
    })
    expect((await put('p-1', '--every-ms', '60000', '--http-url', 'https://example.org', '--pool', 'default')).code).toBe(0)
    expect(await put('p-1', '--at', far, '--handler', 'noop', '--if-absent')).toMatchObject({ code: 1 })
  })
  it('says what is wrong before anything is sent, and what warnings and the owner say', async () => {
    for (const [args, words] of [
      [['--handler', 'noop'], 'Give one of --cron'],
      [['--at', far], 'Give one of --handler, --topic and --http-url'],
      [['--at', far, '--handler', 'noop', '--payload', '{n}'], '--payload is not JSON'],
      [['--at', far, '--handler', 'noop', '--fields', '[]'], '--fields is not an object'],
      [['--at', far, '--handler', 'noop', '--fields', '{"tags":[]}', '--tag', 'a'], '--fields has tags'],
      [['--cron', '0 10 * * ? *', '--handler', 'noop'], 'leave out the year'],
      [['--at', far, '--handler', 'noop', '--fields', '{"attempts": 2}'], 'did you mean retry.maxAttempts?'],
    ] as const) {
      const ended = await put('p-2', ...args)
      expect(ended.code).toBe(2)
      expectSentence(ended, words)
    }
    const invalid = await put('p-3', '--at', far, '--topic', 'not-allowed')
    expect(invalid).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^p-3 is invalid: /),
      err: expect.stringMatching(/^warning: /),
    })
  })
})

describe('duelog jobs plan', () => {
  it('shows which jobs would be created, changed or kept, and their added, removed and moved times; it writes nothing', async () => {
    const daily = (hour: number): object => ({ ...job('planned'), schedule: { cron: `0 ${hour} * * *` } })
    await bed.feed(lines(daily(1), job('same')), 'jobs', 'apply', '-')
    const input = lines(daily(2), job('same'), { ...job('fresh'), schedule: { everyMs: 3_600_000 } })
    const { code, out } = await bed.feed(input, 'jobs', 'plan', '--utc', '--days', '2', '-')
    expect(code).toBe(0)
    expect(out).toMatch(/^update {3}planned \(schedule\)\n {2}~ \S+T01:00:00Z -> \S+T02:00:00Z\n/)
    expect(out).toMatch(/\ncreate {3}fresh\n( {2}\+ \S+Z\n){5} {2}\+ and \d+ more\n/)
    expect(out).toMatch(
      /\nJobs: 1 to create, 1 to update, 1 unchanged, 0 dropped, 0 invalid.\nTimes: 4\d added, 0 removed, [12] moved, \d kept.\n$/,
    )
    expect((await bed.run('jobs', 'get', 'fresh')).code).toBe(4)
  })
  it('fails when a job could not be applied, and prints its position', async () => {
    const file = await bed.file('plan.ndjson', lines(job('ok'), job('wrong', { schedule: { cron: '99 * * * *' } })))
    const { code, out } = await bed.run('jobs', 'plan', file)
    expect(code).toBe(1)
    expect(out).toContain(`invalid  ${file}:2 wrong `)
    expect((await bed.run('jobs', 'plan', '--json', file)).json()).toEqual([
      expect.objectContaining({ file, line: 1, id: 'ok', action: 'CREATE' }),
      expect.objectContaining({ file, line: 2, id: 'wrong', action: 'INVALID' }),
    ])
  })
  it('takes more jobs than one call of the API', async () => {
    const input = lines(...Array.from({ length: 2_100 }, (_, index) => job(`plan-${index}`)))
    expect((await bed.feed(input, 'jobs', 'plan', '--times', '10', '--json', '-')).json()).toHaveLength(2_100)
  })
})

describe('duelog jobs get, list and why', () => {
  it('show a job as text, or its definition in the format of apply', async () => {
    await bed.feed(lines(job('shown', { tags: ['t'], payload: { n: 1 } })), 'jobs', 'apply', '-')
    const { code, out } = await bed.run('jobs', 'get', 'shown')
    expect(code).toBe(0)
    for (const words of ['shown', 'ACTIVE', `once at 2100-01-01T00:00:00`, 'noop', '"n": 1']) expect(out).toContain(words)
    const definition = await bed.run('jobs', 'get', 'shown', '--definition')
    expect(await bed.feed(definition.out, 'jobs', 'apply', '--format', 'yaml', '-')).toMatchObject({ code: 0 })
    expect(JSON.parse(definition.out)).toEqual({
      ...{ id: 'shown', schedule: { at: '2100-01-01T00:00:00.000Z' }, target: { handler: 'noop' } },
      ...{ tags: ['t'], payload: { n: 1 } },
    })
    const all = JSON.parse((await bed.run('jobs', 'get', 'shown', '--definition', '--all')).out)
    expect(all).toMatchObject({ priority: 'NORMAL', retry: { maxAttempts: 5 }, target: { pool: 'default' } })
  })
  it('list in the order of IDs, page by page, up to the limit', async () => {
    const input = lines(
      ...Array.from({ length: 1_200 }, (_, index) => job(`l-${String(index).padStart(4, '0')}`, { tags: ['listed'] })),
    )
    await bed.feed(input, 'jobs', 'apply', '-')
    const all = (await bed.run('jobs', 'list', '--tag', 'listed', '--limit', '1100', '--json')).json()
    expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 1_100 }, (_, index) => `l-${String(index).padStart(4, '0')}`))
    const { out, err } = await bed.run('jobs', 'list', '--tag', 'listed', '--limit', '2')
    expect(out.split('\n').map((line) => line.split(/ {2,}/)[0])).toEqual(['ID', 'l-0000', 'l-0001', ''])
    expect(err).toContain('--limit')
    expect(await bed.run('jobs', 'list', '--handler', 'nobody')).toMatchObject({ code: 0, out: 'No jobs.\n' })
  })
  it('have their own exit code for a missing job', async () => {
    for (const command of ['get', 'why', 'pause', 'rm']) {
      const ended = await bed.run('jobs', command, 'no such job')
      expect(ended.code).toBe(4)
      expectSentence(ended, '"no such job"')
    }
  })
  it('print an error as JSON too, if their answers are JSON', async () => {
    const { code, out, err } = await bed.run('jobs', 'get', 'no such job', '--json')
    expect([code, err]).toEqual([4, expect.stringContaining('"no such job"')])
    expect(JSON.parse(out)).toEqual({ ok: false, code: 'not-found', detail: expect.any(String), retriable: false })
  })
  it('reach ids of any characters', async () => {
    const id = 'a/b?c=d%25#é 漢'
    await bed.feed(lines(job(id)), 'jobs', 'apply', '-')
    expect((await bed.run('jobs', 'get', '--json', id)).json()).toEqual([expect.objectContaining({ id })])
  })
})

describe('duelog jobs pause, resume, cancel, trigger, backfill and rm', () => {
  it('pause, resume and say why', async () => {
    await bed.feed(lines(job('p-1'), job('p-2')), 'jobs', 'apply', '-')
    expect(await bed.run('jobs', 'pause', 'p-1', 'p-2')).toMatchObject({ code: 0, out: expect.stringContaining('p-2 is paused') })
    expect((await bed.run('jobs', 'list', '--status', 'PAUSED', '--json')).json().map(({ id }) => id)).toEqual(['p-1', 'p-2'])
    expect((await bed.run('jobs', 'pause', 'p-1')).out).toBe('p-1 is paused.\n')
    expect((await bed.run('jobs', 'why', 'p-1')).out).toContain('p-1 is paused.')
    expect((await bed.run('jobs', 'resume', 'p-1', '--json')).json()).toEqual([
      expect.objectContaining({ id: 'p-1', ok: true, applied: true, status: 'ACTIVE' }),
    ])
  })
  it('run a job now with another payload, and print the ID of the run', async () => {
    await bed.feed(lines(job('t-1', { target: { handler: 'log' }, payload: 1 })), 'jobs', 'apply', '-')
    expect(await bed.run('jobs', 'trigger', 't-1', '--payload', '{"n": 2}')).toMatchObject({
      code: 0,
      out: 't-1 runs as t-1/1.\n',
    })
    const wrong = await bed.run('jobs', 'trigger', 't-1', '--payload', '{n: 2}')
    expect(wrong.code).toBe(2)
    expectSentence(wrong, '--payload is not JSON')
  })
  it('continue after a missing job, and fail', async () => {
    await bed.feed(lines(job('r-1')), 'jobs', 'apply', '-')
    const { code, out, err } = await bed.run('jobs', 'rm', 'r-0', 'r-1')
    expect({ code, out }).toEqual({ code: 1, out: 'r-1 is deleted.\n' })
    expect(err).toContain('failed r-0: ')
    expect((await bed.run('jobs', 'rm', '--json', 'r-0', 'r-1')).json()).toEqual([
      expect.objectContaining({ id: 'r-0', ok: false, code: 'not-found' }),
      expect.objectContaining({ id: 'r-1', ok: false, code: 'not-found' }),
    ])
  })
  it('delete only the version that was seen', async () => {
    const [seen] = (await bed.feed(lines(job('v-1')), 'jobs', 'apply', '--json', '-')).json()
    await bed.feed(lines(job('v-1', { payload: 2 })), 'jobs', 'apply', '-')
    const ended = await bed.run('jobs', 'rm', 'v-1', '--if-match', String(seen?.etag))
    expect(ended.code).toBe(1)
    expectSentence(ended, 'v-1')
    const [now] = (await bed.run('jobs', 'get', 'v-1', '--json')).json()
    expect(await bed.run('jobs', 'rm', 'v-1', '--if-match', String(now?.etag))).toMatchObject({ code: 0 })
  })
  it('cancel a job, and backfill a past range of one', async () => {
    await bed.feed(lines(job('c-1'), job('b-1', { schedule: { cron: '0 0 * * *' } })), 'jobs', 'apply', '-')
    expect(await bed.run('jobs', 'cancel', 'c-1')).toMatchObject({
      code: 0,
      out: expect.stringContaining('is cancelled; it is completed.'),
    })
    const range = ['--from', '2020-01-01T00:00:00Z', '--to', '2020-01-03T00:00:00Z']
    expect(await bed.run('jobs', 'backfill', 'b-1', ...range, '--dry-run')).toMatchObject({
      code: 0,
      out: expect.stringContaining('would run 2 times, from 2020-01-01T00:00:00.000Z to 2020-01-02T00:00:00.000Z.'),
    })
    expect(await bed.run('jobs', 'backfill', 'b-1', '--cancel')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no backfill'),
    })
    expect(await bed.run('jobs', 'backfill', 'b-1', ...range, '--cancel')).toMatchObject({ code: 2 })
    expect(await bed.run('jobs', 'backfill', 'b-1', ...range)).toMatchObject({ code: 0 })
    expect(await bed.run('jobs', 'skip', 'b-1')).toMatchObject({
      code: 0,
      out: expect.stringContaining('skips its next occurrence'),
    })
    expect(await bed.run('jobs', 'backfill', 'b-1')).toMatchObject({ code: 2, err: expect.stringContaining('--from') })
  })
})
