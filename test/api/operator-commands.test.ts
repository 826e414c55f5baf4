/** Commands besides trigger and pause: cancel, redrive, and the question why. */
import { describe, expect, it } from 'vitest'
import type { JobCommand, OperationRequest } from '../../schemas/generated.ts'
import type { Operation, Operations } from '../../src/ground/ports/operations.ts'
import { mask } from '../../src/server/api/http/redact.ts'
import { duelogHere } from '../cli/built-program.ts'
import { attemptError } from '../tools/attempt-error.ts'
import { apiTokens, operator, viewer } from './attackers.ts'
import { activeRun, codecs, createSystem, execution, finishedRun, type MemorySystem, names, nowMs } from './system-in-memory.ts'

const post = (system: MemorySystem, url: string, payload?: object) =>
  system.api.instance.inject({ method: 'POST', url, ...(payload !== undefined && { payload }) })
const sent = ({ log }: MemorySystem): JobCommand[] =>
  log.written.map(({ topic, value }) => {
    expect(topic).toBe(names.commands)
    return codecs.command.decode(value as Buffer) as JobCommand
  })
const dead = (runNo: number) => ({ ...finishedRun(runNo), status: 'DEAD' as const })

/** The commands as sentences name them. */
const nouns = {
  ...{ TRIGGER: 'trigger', PAUSE: 'pause', RESUME: 'resumption', CANCEL: 'cancellation', BACKFILL: 'backfill' },
  ...{ CANCEL_RUN: 'cancellation of a run', REDRIVE: 'redrive', SKIP: 'skip' },
}

describe('the end of a job or a run', () => {
  it('is a command to the owner of the job', async () => {
    await using system = createSystem()
    system.add('a/b', { active: [activeRun(3)] })
    const job = await post(system, '/v1/jobs/a%2Fb/cancel')
    const run = await post(system, '/v1/runs/a%2Fb/3/cancel')
    expect([job.statusCode, run.statusCode]).toEqual([200, 200])
    expect(run.json()).toMatchObject({ applied: true })
    expect(sent(system)).toMatchObject([
      { type: 'CANCEL', runNo: null, commandId: job.json().commandId },
      { type: 'CANCEL_RUN', runNo: 3, commandId: run.json().commandId },
    ])
  })
  it('answers 202 when the owner takes too long', async () => {
    await using system = createSystem()
    system.add('a', { active: [activeRun(3)] })
    system.owner.applies = false
    for (const url of ['/v1/jobs/a/cancel', '/v1/runs/a/3/cancel']) {
      const answer = await post(system, url)
      expect(answer.statusCode).toBe(202)
      expect(answer.json()).toMatchObject({ applied: false, code: 'wait-timeout' })
    }
  })
  it('of a run that is not active is refused', async () => {
    await using system = createSystem()
    system.add('a', { lastRun: finishedRun(2) })
    expect((await post(system, '/v1/runs/a/2/cancel')).json()).toMatchObject({ status: 404, code: 'not-found' })
    expect(system.log.written).toEqual([])
  })
})

describe('a redrive', () => {
  it('answers with the id of the new run', async () => {
    await using system = createSystem()
    const job = system.add('a', { deadRuns: [2] })
    system.log.onRecord = ({ value }) => {
      const { commandId } = codecs.command.decode(value as Buffer) as JobCommand
      job.active.push({ ...activeRun(3), commandId, trigger: 'REDRIVE' })
    }
    system.owner.applied = async () => true
    const answer = await post(system, '/v1/runs/a/2/redrive')
    expect(answer.statusCode).toBe(202)
    expect(answer.json()).toMatchObject({ runId: 'a/3', applied: true, reason: null })
    expect(sent(system)).toMatchObject([{ type: 'REDRIVE', runNo: 2 }])
  })
  it('of a run that is not dead is refused', async () => {
    await using system = createSystem()
    system.add('a', { active: [activeRun(3)], deadRuns: [2] })
    expect((await post(system, '/v1/runs/a/3/redrive')).json()).toMatchObject({ status: 404, code: 'not-found' })
    expect(system.log.written).toEqual([])
  })
})

describe('a retry', () => {
  it('of a run that waits for its next attempt is sent, and of another active run or of no run is refused', async () => {
    await using system = createSystem()
    system.add('a', { active: [{ ...activeRun(3), status: 'RETRY_WAIT' }, activeRun(4)] })
    system.owner.applied = async () => true
    expect((await post(system, '/v1/runs/a/3/retry')).json()).toMatchObject({ applied: true })
    expect(sent(system)).toMatchObject([{ type: 'REDRIVE', runNo: 3 }])
    expect((await post(system, '/v1/runs/a/4/retry')).json()).toMatchObject({ status: 409, code: 'command-refused' })
    expect((await post(system, '/v1/runs/a/5/retry')).json()).toMatchObject({ status: 404, code: 'not-found' })
    expect(sent(system)).toHaveLength(1)
  })
})

it('a redrive of a run that was redriven before says so, as its page does', async () => {
  await using system = createSystem()
  system.add('a', { deadRuns: [2] })
  const detail = 'There is no dead run a/1: it was redriven or discarded, or there was no room to keep it.'
  expect((await post(system, '/v1/runs/a/1/redrive')).json()).toMatchObject({ code: 'not-found', detail })
  expect((await system.api.instance.inject('/v1/dead-letters/a/1')).json()).toMatchObject({ code: 'not-found', detail })
})

describe('a command that the owner refuses', () => {
  it.each([
    ['BACKFILL', '/v1/jobs/a/backfill', { from: 0, to: 1 }],
    ['TRIGGER', '/v1/jobs/a/trigger'],
    ['CANCEL_RUN', '/v1/runs/a/3/cancel'],
    ['SKIP', '/v1/jobs/a/skip', { at: '2030-01-01T00:00:00Z' }],
    ['REDRIVE', '/v1/runs/a/2/redrive'],
  ] as const)('is answered with 409 and why: %s', async (type, url, body?: object) => {
    await using system = createSystem()
    system.add('a', { deadRuns: [2], active: [activeRun(3)] })
    system.owner.triggered = () => {}
    const apply = system.log.onRecord
    system.log.onRecord = (record, offset) => {
      apply(record, offset)
      const { commandId } = codecs.command.decode(record.value as Buffer) as JobCommand
      const text = 'A command was dropped: its job was over.'
      system.owner.reasons.set('a', [
        { code: 'active', text: 'Run 3 is RUNNING.', at: null },
        { code: 'other', text: 'A command was dropped: another one.', at: nowMs, commandId: 'another' },
        { code: 'expired', text, at: nowMs, commandId },
      ])
    }
    const answer = await post(system, url, body)
    expect(answer.statusCode).toBe(409)
    expect(answer.json()).toMatchObject({
      ...{ status: 409, code: 'command-refused', retriable: false },
      detail: `The ${nouns[type]} of job "a" was not carried out. A command was dropped: its job was over.`,
    })
  })
})

describe('dead letters', () => {
  const system = (options: Parameters<typeof createSystem>[0] = {}): MemorySystem => {
    const made = createSystem(options)
    made.add('a', { deadRuns: [1, 3] })
    made.owner.finished.set('a', [dead(3), finishedRun(2), dead(1)])
    made.add('b')
    const tagged = made.add('c', { deadRuns: [4] })
    made.owner.finished.set('c', [dead(4)])
    if (tagged.definition !== undefined) tagged.definition.tags = ['night']
    return made
  }
  it('are the dead runs that can be redriven, by tag and handler, page by page', async () => {
    await using made = system()
    const list = async (query: string) => {
      const { runs, cursor } = (await made.api.instance.inject(`/v1/dead-letters${query}`)).json()
      return { ids: runs.map(({ runId }: { runId: string }) => runId), cursor }
    }
    expect(await list('')).toEqual({ ids: ['a/3', 'a/1', 'c/4'], cursor: null })
    expect((await list('?tag=night')).ids).toEqual(['c/4'])
    expect((await list('?handler=other')).ids).toEqual([])
    const first = await list('?limit=1')
    expect(first.ids).toEqual(['a/3'])
    expect((await list(`?limit=2&cursor=${encodeURIComponent(first.cursor)}`)).ids).toEqual(['a/1', 'c/4'])
  })
  it('show the input of their last attempt, whatever the definition is meanwhile', async () => {
    await using made = createSystem({ apiTokens: [{ role: 'viewer', token: 'look' }] })
    made.add('a/b', { deadRuns: [3] })
    made.owner.finished.set('a/b', [dead(3)])
    const given = { payload: Buffer.from('{"to":"old"}'), contentType: 'application/json' }
    const sentHeaders = { authorization: Buffer.from('Bearer x'), 'x-request-id': Buffer.from('t') }
    made.owner.executions.set('a/b/3', execution('a/b', 3, { ...given, headers: sentHeaders }))
    const headers = { authorization: 'Bearer look' }
    const answer = await made.api.instance.inject({ url: '/v1/dead-letters/a%2Fb/3', headers })
    expect(answer.json()).toMatchObject({
      run: { runId: 'a/b/3', status: 'DEAD' },
      execution: {
        target: { handler: 'mail', pool: 'default' },
        payload: { to: 'old' },
        ...{ attempt: 2, specOffset: 17, headers: { authorization: '***', 'x-request-id': 't' } },
      },
    })
    const none = await made.api.instance.inject({ url: '/v1/dead-letters/a%2Fb/2', headers })
    expect(none.json()).toMatchObject({ status: 404, code: 'not-found' })
  })
  it('are shown in shorter pages if their data is large', async () => {
    await using made = createSystem()
    const message = 'x'.repeat(1_000_000)
    const ids = Array.from({ length: 48 }, (_, job) => `j${String(job).padStart(3, '0')}`)
    for (const id of ids) {
      made.add(id, { deadRuns: [3] })
      made.owner.finished.set(id, [{ ...dead(3), errors: [attemptError({ attempt: 1, at: 0, type: 'Error', message })] }])
    }
    const found: string[] = []
    let cursor: string | null = ''
    let pages = 0
    for (; cursor !== null; pages++) {
      const url: string = `/v1/dead-letters?limit=1000${cursor === '' ? '' : `&cursor=${cursor}`}`
      const page = (await made.api.instance.inject(url)).json() as { runs: { jobId: string }[]; cursor: string | null }
      found.push(...page.runs.map(({ jobId }) => jobId))
      cursor = page.cursor
    }
    expect(found).toEqual(ids)
    expect(pages).toBe(6)
  })
  it('are redriven by the command line up to --first as one operation, which says if there are more', async () => {
    const requests: OperationRequest[] = []
    const operationOf = (request: OperationRequest): Operation => {
      const total = request.runIds?.length ?? 0
      const progress = {
        status: 'DONE',
        total,
        applied: total,
        refused: 0,
        reasons: [],
        parts: [],
        startedAt: 1,
        effectiveAt: 2,
        endedAt: 2,
      }
      return { id: 'o', createdAt: 0, request, progress: { ...progress, problem: null, driver: '' }, cancel: undefined }
    }
    const operations: Operations = {
      create: async (request) => operationOf(requests[requests.push(request) - 1] as OperationRequest),
      count: async (request) => request.runIds?.length ?? expect.fail(),
      get: async () => expect.fail(),
      list: async () => expect.fail(),
      cancel: async () => expect.fail(),
    }
    await using made = system({ operations })
    const env = { DUELOG_URL: await made.api.listen('127.0.0.1', 0) }
    const run = (...args: string[]) => duelogHere(['runs', 'redrive', ...args], { env })
    const some = await run('--dead', '--first', '2')
    expect([some.code, some.out]).toEqual([0, '2 redriven.\n'])
    expect(some.err).toMatch(/^More than 2 dead runs match\. Without --first all are redriven, each once\./)
    expect(await run('--dead', '--first', '3')).toMatchObject({ code: 0, out: '3 redriven.\n', err: '' })
    expect(requests.map(({ action, runIds }) => [action, runIds])).toEqual([
      ['REDRIVE', ['a/3', 'a/1']],
      ['REDRIVE', ['a/3', 'a/1', 'c/4']],
    ])
    expect(await run('--dead', '--first', '1', '--tag', 'night', '--dry-run')).toMatchObject({ out: '1 would be redriven.\n' })
    expect(await run('--dead', '--first', '1', '--tag', 'nobody')).toMatchObject({ code: 0, out: 'No dead runs.\n' })
    for (const option of [['--dry-run'], ['--first', '1'], ['--detach'], ['--tag', 'night']])
      expect(await run('a/1', ...option)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('needs --dead') })
    expect(requests).toHaveLength(2)
    expect(made.log.written).toEqual([])
  })
})

describe('a payload of an operation', () => {
  const requests: OperationRequest[] = []
  const operations: Operations = {
    create: async (request) => {
      requests.push(request)
      return { id: 'o', createdAt: 0, request, progress: undefined, cancel: undefined }
    },
    count: async () => 1,
    get: async () => undefined,
    list: async () => [],
    cancel: async () => undefined,
  }
  const filter = { tag: 'night' }
  it('is kept as it was written, at most 65,536 bytes of it, and no answer shows it', async () => {
    await using made = createSystem({ operations })
    const bytes = Buffer.alloc(65_536, 7)
    for (const [body, payload, payloadIsJson] of [
      [{ payload: 'x' }, '"x"', true],
      [{ payloadBase64: 'AAH/' }, Buffer.from([0, 1, 255]), false],
      [{ payloadBase64: bytes.toString('base64') }, bytes, false],
    ] as const) {
      const answer = await post(made, '/v1/operations', { action: 'TRIGGER', filter, ...body })
      expect([answer.statusCode, answer.json()]).toMatchObject([202, { action: 'TRIGGER', payloadBytes: payload.length }])
      const wanted = { action: 'TRIGGER', tag: 'night', payload: Buffer.from(payload), payloadIsJson }
      expect(requests.at(-1)).toMatchObject(wanted)
      expect(Object.keys(answer.json())).not.toContain('payload')
    }
    await post(made, '/v1/operations', { action: 'TRIGGER', filter, payload: null })
    expect(requests.at(-1)).toMatchObject({ action: 'TRIGGER', payload: null, payloadIsJson: false })
  })
  it.each([
    [{ payload: 'x'.repeat(65_535) }, 'payload-too-large'],
    [{ payloadBase64: Buffer.alloc(65_537).toString('base64') }, 'payload-too-large'],
    [{ payloadBase64: 'not base64' }, 'bad-request'],
    [{ payload: 1, payloadBase64: 'AAH/' }, 'bad-request'],
    [{ payload: 1, action: 'PAUSE' }, 'bad-request'],
    [{ payload: 1, action: 'REDRIVE' }, 'bad-request'],
  ])('is refused in the request no. %#', async (body, code) => {
    await using made = createSystem({ operations })
    const before = requests.length
    for (const path of ['/v1/operations', '/v1/operations/count'])
      expect((await post(made, path, { action: 'TRIGGER', filter, ...body })).json()).toMatchObject({ code })
    expect(requests).toHaveLength(before)
  })
})

describe('why', () => {
  it('shows the reasons in order, with times in ISO 8601', async () => {
    await using system = createSystem()
    const why = [
      { code: 'active', text: 'Run 1 is RUNNING.', at: null },
      { code: 'overlap', text: 'An occurrence was skipped.', at: nowMs },
    ]
    system.add('a/b')
    system.owner.reasons.set('a/b', why)
    const answer = await system.api.instance.inject('/v1/jobs/a%2Fb/why')
    expect(answer.json()).toEqual({ id: 'a/b', status: 'ACTIVE', why: [why[0], { ...why[1], at: '2030-01-01T00:00:00.000Z' }] })
  })

  it('names the last error of a dead run; a viewer sees it as in the run', async () => {
    await using system = createSystem({ apiTokens })
    system.add('a')
    const [text, errors] = [
      'Run 2 became a dead letter.',
      [attemptError({ attempt: 1, at: nowMs, type: 'Error', message: 'no such address' })],
    ]
    system.owner.reasons.set(
      'a',
      [2, 1].map((deadRunNo) => ({ code: 'attempts', text, at: null, deadRunNo })),
    )
    system.owner.finished.set('a', [{ ...finishedRun(2), status: 'DEAD', hiddenHash: null, errors }])
    const texts = async (headers: Record<string, string>) => {
      const { why } = (await system.api.instance.inject({ url: '/v1/jobs/a/why', headers })).json()
      return why.map((reason: { text: string }) => reason.text)
    }
    expect(await texts(operator)).toEqual([`${text} Its last error was Error: no such address`, text])
    expect(await texts(viewer)).toEqual([`${text} Its last error was ${mask}: ${mask}`, text])
  })
})

describe('of a job that does not exist', () => {
  it.each([
    ['POST', '/v1/jobs/x/cancel'],
    ['POST', '/v1/jobs/x/backfill', { from: 0, to: 1 }],
    ['POST', '/v1/runs/x/1/cancel'],
    ['POST', '/v1/runs/x/1/redrive'],
    ['GET', '/v1/jobs/x/why'],
  ] as const)('%s %s does nothing and reports 404', async (method, url, payload?: object) => {
    await using system = createSystem()
    const answer = await system.api.instance.inject({ method, url, ...(payload !== undefined && { payload }) })
    expect(answer.json()).toMatchObject({ status: 404, code: 'not-found' })
    expect(system.log.written).toEqual([])
  })
})

describe('a command with an Idempotency-Key', () => {
  const keyed = (system: MemorySystem, url: string, key: string, payload?: object) =>
    system.api.instance.inject({ method: 'POST', url, headers: { 'idempotency-key': key }, ...(payload && { payload }) })

  it('is recognized by its key: a repeat is the same command, and its answer names the same run', async () => {
    await using system = createSystem()
    const job = system.add('a')
    // Like an owner: a command that is sent again has no effect.
    system.log.onRecord = ({ value }) => {
      const { commandId } = codecs.command.decode(value as Buffer) as JobCommand
      if (job.active.every((run) => run.commandId !== commandId))
        job.active.push({ ...activeRun(job.active.length + 1), commandId })
    }
    system.owner.applied = async () => true
    const runs = []
    for (const key of ['order-7', 'order-7', 'order-8']) runs.push((await keyed(system, '/v1/jobs/a/trigger', key)).json().runId)
    expect(runs).toEqual(['a/1', 'a/1', 'a/2'])
    expect(sent(system).map(({ commandId }) => commandId)).toEqual(['trigger:order-7', 'trigger:order-7', 'trigger:order-8'])
  })
  it('is separate for each kind of command, and for each run', async () => {
    await using system = createSystem()
    system.add('a', { active: [activeRun(3)], deadRuns: [1, 2] })
    system.owner.applies = false
    for (const name of ['pause', 'resume', 'cancel']) await keyed(system, `/v1/jobs/a/${name}`, 'k')
    await keyed(system, '/v1/jobs/a/backfill', 'k', { from: 0, to: 1 })
    for (const name of ['3/cancel', '1/redrive', '2/redrive']) await keyed(system, `/v1/runs/a/${name}`, 'k')
    const ids = ['pause:k', 'resume:k', 'cancel:k', 'backfill:k', 'cancel_run/3:k', 'redrive/1:k', 'redrive/2:k']
    expect(sent(system).map(({ commandId }) => commandId)).toEqual(ids)
  })
  it.each([
    ['/v1/runs/a/2/redrive', { runId: 'a/3', applied: true }],
    ['/v1/runs/a/2/cancel', { applied: true }],
  ])('goes to the owner also if the run has changed, because the first command may have done that: %s', async (url, answer) => {
    await using system = createSystem()
    const commandId = 'redrive/2:k'
    system.add('a', { active: [{ ...activeRun(3), commandId }], deadRuns: [] })
    system.owner.applied = async () => true
    expect((await keyed(system, url, 'k')).json()).toMatchObject(answer)
    expect((await post(system, url)).json()).toMatchObject({ status: 404 })
  })
  it.each(['', 'a b', 'ä', 'x'.repeat(256)])('is refused if the key is %j', async (key) => {
    await using system = createSystem()
    system.add('a')
    expect((await keyed(system, '/v1/jobs/a/trigger', key)).json()).toMatchObject({
      ...{ status: 400, code: 'bad-request' },
      detail: 'Idempotency-Key is not valid; allowed: 1 to 255 visible ASCII characters.',
    })
    expect(system.log.written).toEqual([])
  })
})
