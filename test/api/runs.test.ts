import { describe, expect, it } from 'vitest'
import type { JobCommand } from '../../schemas/generated.ts'
import { attemptError } from '../tools/attempt-error.ts'
import { activeRun, codecs, createSystem, execution, finishedRun, names, nowMs } from './system-in-memory.ts'

describe('commands', () => {
  it('answers a trigger with the id of the run that it made', async () => {
    await using system = createSystem()
    system.add('a/b', { runNo: 4 })
    const answer = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a%2Fb/trigger' })
    expect(answer.statusCode).toBe(202)
    expect(answer.json()).toMatchObject({ runId: 'a/b/5', applied: true })
    const [record] = system.log.written
    expect(record).toMatchObject({ topic: names.commands, key: 'a/b' })
    const command = codecs.command.decode(record?.value as Buffer) as JobCommand
    expect(command).toMatchObject({
      type: 'TRIGGER',
      at: nowMs,
      payload: null,
      actor: 'local',
      commandId: answer.json().commandId,
    })
  })

  it('finds the run of a trigger that has already ended', async () => {
    await using system = createSystem()
    system.add('a')
    system.owner.triggered = (job, { commandId }) => {
      job.lastRun = { ...finishedRun(9), commandId }
    }
    const last = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a/trigger' })
    expect(last.json().runId).toBe('a/9')
    system.owner.triggered = (job, { commandId }) => {
      system.owner.finished.set(job.id, [finishedRun(9), { ...finishedRun(8), commandId }])
    }
    const older = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a/trigger' })
    expect(older.json().runId).toBe('a/8')
  })

  it('gives each trigger an id of its own', async () => {
    await using system = createSystem()
    system.add('a')
    const trigger = () => system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a/trigger' })
    const [first, second] = [await trigger(), await trigger()]
    expect(first.json().commandId).not.toBe(second.json().commandId)
  })

  it('use the given payload in place of that of the definition', async () => {
    await using system = createSystem()
    system.add('a')
    await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a/trigger', payload: { payload: { to: 'x' } } })
    const command = codecs.command.decode(system.log.written[0]?.value as Buffer) as JobCommand
    expect(command.payload?.toString()).toBe('{"to":"x"}')
    const tooLarge = { payload: 'x'.repeat(600_000) }
    const refused = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a/trigger', payload: tooLarge })
    expect(refused.json()).toMatchObject({ status: 400, code: 'bad-request', problems: [{ field: 'payload' }] })
  })

  it('says why a trigger made no run', async () => {
    await using system = createSystem()
    system.add('a', { reason: 'overlap' })
    system.owner.triggered = () => {}
    const answer = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a/trigger' })
    expect(answer.statusCode).toBe(202)
    expect(answer.json()).toMatchObject({ runId: null, reason: 'overlap', applied: true })
  })

  it('answers without a run id when the owner takes too long', async () => {
    await using system = createSystem()
    system.add('a')
    system.owner.applies = false
    const answer = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/a/trigger' })
    expect(answer.statusCode).toBe(202)
    expect(answer.json()).toMatchObject({ applied: false, code: 'wait-timeout' })
    expect(answer.json().runId).toBeUndefined()
  })

  it('pauses and resumes', async () => {
    await using system = createSystem()
    system.add('a')
    const command = (what: string) => system.api.instance.inject({ method: 'POST', url: `/v1/jobs/a/${what}` })
    expect((await command('pause')).json()).toMatchObject({ applied: true, status: 'PAUSED' })
    expect((await system.api.instance.inject('/v1/jobs/a')).json().status).toBe('PAUSED')
    const resumed = await command('resume')
    expect(resumed.statusCode).toBe(200)
    expect(resumed.json()).toMatchObject({ applied: true, status: 'ACTIVE' })
    system.owner.applies = false
    expect((await command('pause')).statusCode).toBe(202)
  })
})

describe('runs', () => {
  it('lists active runs before ended ones, with times in ISO 8601 and results as JSON', async () => {
    await using system = createSystem()
    const { offset } = system.add('a/b', { active: [activeRun(3)] })
    system.owner.finished.set('a/b', [{ ...finishedRun(2, { sent: 1 }), specOffset: offset }, finishedRun(1)])
    const { runs } = (await system.api.instance.inject('/v1/jobs/a%2Fb/runs')).json()
    expect(runs.map((run: { runId: string }) => run.runId)).toEqual(['a/b/3', 'a/b/2', 'a/b/1'])
    expect(runs[0]).toMatchObject({ status: 'RUNNING', startedAt: '2030-01-01T00:00:00.000Z', finishedAt: null })
    expect(runs[1]).toMatchObject({ status: 'SUCCEEDED', result: { sent: 1 }, finishedAt: '2030-01-01T00:00:00.005Z' })
    expect([runs[1].handler, runs[1].pool, runs[2].handler]).toEqual(['noop', 'default', undefined])
    expect(runs[1].errors[0]).toMatchObject({ attempt: 1, at: '2030-01-01T00:00:00.000Z' })
  })

  it('shows the last report of the worker of an active run: progress, message and time', async () => {
    await using system = createSystem()
    const heartbeat = { checkedAt: nowMs + 250, progress: 0.4, message: 'half way' }
    system.add('a', { active: [activeRun(3, heartbeat), activeRun(4)] })
    const shown = { progress: 0.4, message: 'half way', checkedAt: '2030-01-01T00:00:00.250Z' }
    const silent = { progress: null, message: null, checkedAt: null }
    expect((await system.api.instance.inject('/v1/runs/a/3')).json()).toMatchObject(shown)
    expect((await system.api.instance.inject('/v1/runs/a/4')).json()).toMatchObject(silent)
    expect((await system.api.instance.inject('/v1/jobs/a/runs')).json().runs).toMatchObject([shown, silent])
    expect((await system.api.instance.inject('/v1/jobs/a')).json().active).toMatchObject([shown, silent])
  })

  it('names the limit that a run waits for, and no other', async () => {
    await using system = createSystem()
    const limits = {
      concurrencyKey: 'crm',
      concurrencyLimit: 1,
      rateKey: 'mail',
      rateLimit: 1,
      ratePerMs: 1,
      rank: 1,
      startDeadlineMs: 1,
    }
    const waiting = (runNo: number, waitsFor: 'SLOT' | 'RATE' | null) => {
      return { ...activeRun(runNo), status: waitsFor === null ? 'RUNNING' : 'WAITING', waitsFor, limits } as const
    }
    system.add('a', { active: [waiting(3, 'SLOT'), waiting(4, 'RATE'), waiting(5, null)] })
    const { runs } = (await system.api.instance.inject('/v1/jobs/a/runs')).json() as { runs: { limitKey: unknown }[] }
    expect(runs.map(({ limitKey }) => limitKey)).toEqual(['crm', 'mail', null])
  })

  it('shows one run, active or ended', async () => {
    await using system = createSystem()
    system.add('a/b', { active: [activeRun(3)] })
    system.owner.finished.set('a/b', [finishedRun(2)])
    expect((await system.api.instance.inject('/v1/runs/a%2Fb/3')).json()).toMatchObject({ jobId: 'a/b', runNo: 3 })
    expect((await system.api.instance.inject('/v1/runs/a%2Fb/2')).json().attempts).toBe(2)
    expect((await system.api.instance.inject('/v1/runs/a%2Fb/1')).json()).toMatchObject({ status: 404, code: 'not-found' })
  })

  it('shows what one run needs beyond a list: its stack, its input if wanted, and what follows', async () => {
    await using system = createSystem()
    const job = system.add('a', { active: [activeRun(3)], runNo: 3, deadRuns: [2] })
    if (job.definition !== undefined) job.definition.onFailure = ['alarm']
    const failed = attemptError({
      attempt: 1,
      at: nowMs,
      type: 'Error',
      message: 'no',
      startedAt: nowMs,
      stack: 'Error: no\n  at send',
    })
    system.owner.finished.set('a', [{ ...finishedRun(2), status: 'DEAD', dueAt: nowMs, errors: [failed] }])
    system.owner.executions.set('a/2', execution('a', 2, { payload: Buffer.from('{"to":"x"}'), contentType: 'application/json' }))
    const ask = async (path: string) => (await system.api.instance.inject(path)).json()
    const dead = await ask('/v1/runs/a/2?input=true')
    expect(dead).toMatchObject({
      redrivable: true,
      lastRunNo: 3,
      onSuccess: [],
      onFailure: ['alarm'],
      input: { payload: { to: 'x' } },
    })
    expect(dead).toMatchObject({ dueAt: '2030-01-01T00:00:00.000Z' })
    expect(dead.errors[0]).toMatchObject({
      stack: 'Error: no\n  at send',
      startedAt: '2030-01-01T00:00:00.000Z',
      dueAt: '2030-01-01T00:00:00.000Z',
    })
    expect(await ask('/v1/runs/a/2')).not.toHaveProperty('input')
    expect(await ask('/v1/runs/a/3?input=true')).toMatchObject({ redrivable: false, input: null })
    expect((await ask('/v1/jobs/a/runs')).runs[1].errors[0]).not.toHaveProperty('stack')
  })
})

describe('GET /v1/runs', () => {
  it('gives the active runs of all jobs, by state, tag and handler, page by page', async () => {
    await using system = createSystem()
    const waiting = { ...activeRun(2), status: 'RETRY_WAIT' as const }
    system.add('a', { active: [activeRun(1), waiting] })
    system.add('b')
    const tagged = system.add('c', { active: [activeRun(7)] })
    if (tagged.definition !== undefined) tagged.definition.tags = ['night']
    const list = async (query: string) => {
      const { runs, cursor } = (await system.api.instance.inject(`/v1/runs${query}`)).json()
      return { ids: runs.map(({ runId }: { runId: string }) => runId), cursor }
    }
    expect(await list('')).toEqual({ ids: ['a/1', 'a/2', 'c/7'], cursor: null })
    expect((await list('?state=RETRY_WAIT')).ids).toEqual(['a/2'])
    expect((await list('?tag=night&handler=noop')).ids).toEqual(['c/7'])
    const first = await list('?limit=1')
    expect(first.ids).toEqual(['a/1', 'a/2'])
    expect((await list(`?limit=1&cursor=${encodeURIComponent(first.cursor)}`)).ids).toEqual(['c/7'])
    expect((await system.api.instance.inject('/v1/runs?state=SUCCEEDED')).json()).toMatchObject({ code: 'bad-request' })
  })
})
