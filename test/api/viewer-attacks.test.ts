/** A viewer tries to learn secret values of jobs: by reading everything that is visible, and by trying values. */
import { describe, expect, it } from 'vitest'
import type { HistoryQueries } from '../../src/ground/ports/roles.ts'
import { hiddenHash } from '../../streams/text/hashes.ts'
import { endedRun } from '../history/runs.ts'
import { attemptError } from '../tools/attempt-error.ts'
import { apiTokens, expectRefusal, operator, viewer } from './attackers.ts'
import { activeRun, createSystem, execution, finishedRun, type MemorySystem } from './system-in-memory.ts'

/** Header names that usually carry credentials, and names that usually do not. */
const names = [
  ...['authorization', 'x-authorization', 'x-auth', 'x-auth-key', 'ocp-apim-subscription-key', 'x-functions-key', 'api_key'],
  ...['x-credential', 'passwd', 'x-passphrase', 'private-key', 'x-jwt', 'x-hub-signature', 'set-cookie', 'Cookie', 'X-Plain'],
]
const secretOf = (name: string): string => `hidden-of-${name}`
const sent = Object.fromEntries(names.map((name) => [name, secretOf(name)]))
const url = 'https://hooks.example.org:8443/services/T000/hidden-in-path?key=hidden-in-query#hidden-in-fragment'
const hook = {
  schedule: { at: '2031-01-01T12:00:00Z' },
  target: { http: { url, headers: { ...sent, accept: 'shown' } } },
  headers: { 'x-of-job': 'hidden-of-job', traceparent: 'shown' },
}
const quiet = {
  schedule: { at: '2031-01-01T12:00:00Z' },
  target: { handler: 'noop' },
  headers: { 'x-basic': `Basic ${Buffer.from('me:hidden-password').toString('base64')}`, 'x-key': 'hidden "key"' },
}

const put = async (system: MemorySystem, id: string, payload: object) => {
  const answer = await system.api.instance.inject({ method: 'PUT', url: `/v1/jobs/${id}`, headers: operator, payload })
  expect(answer.statusCode).toBe(200)
}
const ask = (system: MemorySystem, path: string, headers = viewer) => system.api.instance.inject({ url: path, headers })

const error = (message: string) =>
  attemptError({ attempt: 1, at: 0, type: 'HttpStatusError', message, stack: `HttpStatusError: ${message}\n    at send` })
const echo = 'the server answered 503: no such user hidden-of-authorization'

/** Ended runs whose texts repeat what was sent. */
const echoingHistory: HistoryQueries = {
  page: async () => {
    const texts = { errorType: 'hidden-type', errorMessage: echo, note: 'hidden-note', result: Buffer.from('"hidden-result"') }
    return { runs: [{ ...endedRun(texts), mayHoldSecrets: true }], next: null, searchedTo: null }
  },
  counts: async () => ({ buckets: [{ at: 0, outcomes: { DEAD: 1 } }], countedFrom: null }),
  handlers: async () => [],
}

/** Runs whose servers and handlers repeat what they received. */
async function echoing(): Promise<MemorySystem> {
  const system = createSystem({ apiTokens, history: echoingHistory })
  await put(system, 'hook', hook)
  await put(system, 'quiet', quiet)
  const [hooked, quieted] = [system.owner.jobs.get('hook'), system.owner.jobs.get('quiet')]
  if (hooked === undefined || quieted === undefined) throw new Error('the jobs are not there')
  const said = 'bad key hidden \\"key\\" of me:hidden-password'
  hooked.active = [{ ...activeRun(4), errors: [error(echo)] }]
  hooked.lastRun = { ...finishedRun(3, { status: 200, body: 'you are hidden-of-authorization' }), errors: [error(echo)] }
  hooked.deadRuns = [2]
  quieted.active = [{ ...activeRun(4, { progress: 1, message: said, checkedAt: 1 } as never), errors: [error(said)] }]
  quieted.lastRun = { ...finishedRun(3, { shown: ['hidden "key"'], 'hidden-password': 1 }), errors: [error(said)] }
  quieted.deadRuns = [2]
  for (const [id, job] of [
    ['hook', hooked],
    ['quiet', quieted],
  ] as const) {
    const dead = { ...finishedRun(2), status: 'DEAD' as const, errors: job.lastRun?.errors ?? [] }
    system.owner.finished.set(id, [job.lastRun ?? dead, dead])
    const { target, headers } = job.definition ?? {}
    system.owner.executions.set(`${id}/2`, execution(id, 2, { httpTarget: target?.http ?? null, headers: headers ?? {} }))
    for (const runNo of [3, 4])
      system.owner.inputs.set(
        `${id}/${runNo}`,
        execution(id, runNo, { httpTarget: target?.http ?? null, headers: headers ?? {} }),
      )
  }
  return system
}

const places = ['hook', 'quiet'].flatMap((id) => [
  ...[`/v1/jobs/${id}`, `/v1/jobs/${id}/why`, `/v1/jobs/${id}/runs`, `/v1/runs/${id}/4`, `/v1/runs/${id}/3`],
  ...[`/v1/runs/${id}/2?input=true`, `/v1/runs/${id}/3?input=true`, `/v1/runs/${id}/4?input=true`],
  `/v1/jobs/${id}/result?runNo=3`,
  `/v1/dead-letters/${id}/2`,
])
const lists = [
  '/v1/jobs',
  '/v1/runs',
  '/v1/dead-letters',
  '/v1/workers',
  '/v1/pools',
  '/v1/limits',
  '/v1/settings',
  '/v1/partitions',
  '/metrics',
  '/v1/proof',
  '/v1/history',
  '/v1/history/counts',
  '/v1/series',
]

describe('what a viewer sees', () => {
  it.each([...places, ...lists])('at %s has no value that a job sends to others', async (path) => {
    await using system = await echoing()
    const answer = await ask(system, path)
    expect(answer.statusCode).toBe(200)
    expect(answer.body).not.toContain('hidden')
  })

  it.each([...places.filter((path) => !path.endsWith('/why')), ...lists.slice(0, 3)])(
    'at %s is complete for an operator',
    async (path) => {
      await using system = await echoing()
      expect((await ask(system, path, operator)).body).toContain('hidden')
    },
  )

  it('is the names, values known to be harmless, the host of a URL, and the status of an answer', async () => {
    await using system = await echoing()
    const { definition, active, lastRun } = (await ask(system, '/v1/jobs/hook')).json()
    expect(definition.headers).toEqual({ 'x-of-job': '***', traceparent: 'shown' })
    const masks = Object.fromEntries(names.map((name) => [name, '***']))
    expect(definition.target.http).toMatchObject({
      url: 'https://hooks.example.org:8443/***',
      headers: { ...masks, accept: 'shown' },
    })
    expect(active[0].errors[0].message).toBe('the server answered 503: ***')
    expect(lastRun.result).toEqual({ status: 200, body: '***' })
    const run = (await ask(system, '/v1/runs/hook/3?input=true')).json()
    expect(run.errors[0].stack).toBe(null)
    expect(run.input).toMatchObject({ headers: definition.headers, target: { http: { url: definition.target.http.url } } })
    expect((await ask(system, '/v1/runs/quiet/3')).json().errors[0].stack).toBe(
      'HttpStatusError: bad key *** of ***\n    at send',
    )
    const own = (await ask(system, '/v1/jobs/quiet')).json()
    expect(own.active[0].errors[0].message).toBe('bad key *** of ***')
    expect(own.lastRun.result).toEqual({ shown: ['***'], '***': 1 })
  })

  it('of runs with an unreadable definition contains no text, because hidden values are unknown', async () => {
    await using system = await echoing()
    const job = system.owner.jobs.get('quiet')
    if (job !== undefined) Object.assign(job, { definition: undefined, status: 'INVALID' })
    for (const path of ['/v1/jobs/quiet', '/v1/jobs/quiet/runs', '/v1/runs/quiet/4', '/v1/runs/quiet/3', ...lists.slice(0, 3)]) {
      const answer = await ask(system, path)
      expect(answer.statusCode).toBe(200)
      expect(answer.body).not.toContain('hidden')
    }
    const { lastRun, active } = (await ask(system, '/v1/jobs/quiet')).json()
    expect([lastRun.status, lastRun.result, lastRun.errors[0].message, active[0].message]).toEqual([
      'SUCCEEDED',
      '***',
      '***',
      '***',
    ])
  })

  it('of runs made with other headers contains no text, if the definition in force does not know the hidden values of these', async () => {
    await using system = await echoing()
    const before = system.owner.jobs.get('quiet')
    const madeWith = before?.definition === undefined ? undefined : hiddenHash(before.definition)
    const runs = system.owner.finished.get('quiet') ?? []
    for (const run of runs) run.hiddenHash = madeWith ?? null
    expect((await ask(system, '/v1/runs/quiet/3')).json().errors[0].message).toBe('bad key *** of ***')
    const answer = await system.api.instance.inject({
      ...{ method: 'PUT', url: '/v1/jobs/quiet', headers: operator, payload: { ...quiet, headers: { 'x-key': 'rotated' } } },
    })
    expect(answer.statusCode).toBe(200)
    const job = system.owner.jobs.get('quiet')
    const [lastRun = null] = runs
    if (job !== undefined) Object.assign(job, { active: before?.active ?? [], lastRun, deadRuns: [2] })
    for (const path of ['/v1/jobs/quiet', '/v1/jobs/quiet/runs', '/v1/runs/quiet/4', '/v1/runs/quiet/3', ...lists.slice(0, 3)]) {
      const answer = await ask(system, path)
      expect(answer.statusCode).toBe(200)
      expect(answer.body).not.toContain('hidden')
    }
    // A run without hidden values is shown in full, also after a later definition that has some.
    for (const run of runs) Object.assign(run, { hiddenHash: 0, errors: [error('a plain word')], result: null })
    expect((await ask(system, '/v1/runs/quiet/3')).json().errors[0].message).toBe('a plain word')
  })

  it('of a redriven run contains no text: it names the definition in force, and got the values of the dead run', async () => {
    await using system = await echoing()
    const job = system.owner.jobs.get('quiet')
    if (job === undefined) throw new Error('the job is not there')
    job.active = job.active.map((run) => ({ ...run, trigger: 'REDRIVE', errors: [error('bad key hidden of before')] }))
    for (const path of ['/v1/jobs/quiet', '/v1/jobs/quiet/runs', '/v1/runs/quiet/4', '/v1/runs']) {
      const answer = await ask(system, path)
      expect(answer.statusCode).toBe(200)
      expect(answer.body).not.toContain('hidden')
    }
  })

  it('of an error includes its type, redacted too', async () => {
    await using system = await echoing()
    const [run] = system.owner.finished.get('quiet') ?? []
    run?.errors.push({ ...error('said'), type: 'Refused:hidden-password' })
    expect((await ask(system, '/v1/runs/quiet/3')).json().errors.at(-1).type).toBe('Refused:***')
  })

  it('of a result keeps numbers that secrets cannot contain, if nothing has to be hidden', async () => {
    await using system = await echoing()
    const [run] = system.owner.finished.get('quiet') ?? []
    if (run !== undefined) run.result = Buffer.from('{"id":9007199254740993}')
    expect((await ask(system, '/v1/runs/quiet/3')).body).toContain('9007199254740993')
    if (run !== undefined) run.result = Buffer.from('{"id":9007199254740993,"of":"hidden-password"}')
    expect((await ask(system, '/v1/runs/quiet/3')).body).not.toContain('hidden')
  })
})

describe('a plan', () => {
  const plan = async (system: MemorySystem, job: object, headers = viewer) => {
    const payload = { jobs: [job] }
    const answer = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/plan', headers, payload })
    expect(answer.statusCode).toBe(200)
    expect(answer.body).not.toContain('hidden-')
    return answer.body
  }
  const guesses = (wrong: string): [string, object][] => [
    ['a header of the target', { ...hook, target: { http: { url, headers: { ...hook.target.http.headers, 'x-auth': wrong } } } }],
    ['a header of the job', { ...hook, headers: { ...hook.headers, 'x-of-job': wrong } }],
    ['the query', { ...hook, target: { http: { ...hook.target.http, url: url.replace('hidden-in-query', wrong) } } }],
    ['the path', { ...hook, target: { http: { ...hook.target.http, url: url.replace('hidden-in-path', wrong) } } }],
  ]

  it.each(guesses('wrong'))('does not reveal whether a value of %s is right', async (_what, job) => {
    await using system = await echoing()
    const right = await plan(system, { id: 'hook', ...hook })
    expect(await plan(system, { id: 'hook', ...job })).toBe(right)
    expect(JSON.parse(right).jobs[0]).toMatchObject({ action: 'UNCHANGED', hidden: ['target', 'headers'] })
    const told = JSON.parse(await plan(system, { id: 'hook', ...job }, operator)).jobs[0]
    expect(told).toMatchObject({ action: 'UPDATE' })
    expect(told).not.toHaveProperty('hidden')
  })

  it('of what a viewer was shown reports no difference', async () => {
    await using system = await echoing()
    const { definition } = (await ask(system, '/v1/jobs/hook')).json()
    expect(JSON.parse(await plan(system, { id: 'hook', ...definition })).jobs[0]).toMatchObject({ action: 'UNCHANGED' })
    const changed = { ...definition, tags: ['new'] }
    expect(JSON.parse(await plan(system, { id: 'hook', ...changed })).jobs[0]).toMatchObject({
      action: 'UPDATE',
      changed: ['tags'],
    })
  })
})

describe('a definition as a viewer was shown it', () => {
  it.each([
    ['headers["x-of-job"]', { ...quiet, headers: { 'x-of-job': '***' } }],
    [
      'target.http.headers["x-auth"]',
      { ...hook, target: { http: { url: 'https://a.example.org/', headers: { 'x-auth': '***' } } } },
    ],
    ['target.http.url', { ...hook, target: { http: { url: 'https://a.example.org/***' } } }],
  ])('is refused on write, because its %s would be lost', async (field, payload) => {
    await using system = createSystem({ apiTokens })
    const job = { method: 'PUT' as const, url: '/v1/jobs/a', headers: operator, payload }
    const answer = await system.api.instance.inject(job)
    expectRefusal(answer, [400])
    expect(answer.json().problems[0]).toMatchObject({ field })
    const lines = { ...operator, 'content-type': 'application/x-ndjson' }
    const line = JSON.stringify({ id: 'a', ...payload })
    const batch = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/batch', headers: lines, payload: line })
    expect(batch.body).toContain('"ok":false')
    expect(system.log.written).toEqual([])
  })
})
