/** What commands that read print for an operator, and which arguments they take. */
import { describe, expect, it } from 'vitest'
import { main } from '../../src/program/cli/program.ts'
import { cannedApi } from './canned-api.ts'
import { FakeTerminal } from './fake-terminal.ts'

const run = {
  ...{ runId: 'r/3', jobId: 'r', runNo: 3, status: 'RUNNING', trigger: 'SCHEDULE', scheduledFor: '2030-01-01T00:00:00Z' },
  ...{
    attempts: 1,
    startedAt: '2030-01-01T00:00:01Z',
    finishedAt: null,
    worker: 'w@h:1:a',
    handler: 'mail',
    pool: 'gpu',
    result: null,
    errors: [],
  },
}
const waited = (runNo: number) => ({
  code: 'pool-paused',
  text: `Run ${runNo} waited: its pool was paused.`,
  at: `2030-01-01T00:0${runNo}:00Z`,
})
const answers: Record<string, unknown> = {
  'GET /v1/runs': {
    runs: [
      { ...run, progress: 0.4, message: 'half' },
      { ...run, runId: 'r/4', runNo: 4, status: 'WAITING', startedAt: null, worker: null, waitsFor: 'SLOT', limitKey: 'eu' },
    ],
    cursor: null,
  },
  'GET /v1/jobs': { jobs: [], cursor: null },
  'GET /v1/history': { runs: [], cursor: null },
  'GET /v1/jobs/r/why': {
    status: 'ACTIVE',
    why: [{ code: 'due', text: 'It is due in 5 s.', at: null }, waited(3), waited(2), waited(1)],
  },
}
const api = cannedApi((request) => ({ body: answers[request] }))

describe('commands that read', () => {
  it('list runs with handler, pool, worker, progress and what they wait for', async () => {
    const { out } = await api.run(['runs', 'list'])
    const lines = out.split('\n').map((line) => line.trim().split(/ {2,}/))
    expect(lines[0]?.slice(-6)).toEqual(['HANDLER', 'POOL', 'WORKER', 'PROGRESS', 'WAITS FOR', 'LAST ERROR'])
    expect(lines[1]?.slice(-4)).toEqual(['mail', 'gpu', 'w@h:1:a', '40 % half'])
    expect(lines[2]?.at(-1)).toBe('slot of eu')
  })
  it('say decisions of one cause once, with their number', async () => {
    const { out } = await api.run(['jobs', 'why', 'r'])
    expect(out.split('\n').slice(1, -1)).toEqual([
      'It is due in 5 s.',
      '2030-01-01T00:03:00Z  Run 3 waited: its pool was paused.',
      '  and 2 decisions like it, the first at 2030-01-01T00:01:00Z',
    ])
  })
  it.each([
    [['jobs', 'list', '--status', 'active', '--id-prefix', 'r', '--due-before', '1h']],
    [['runs', 'list', '--state', 'running']],
    [['history', '--outcome', 'dead', '--since', 'yesterday', '--to', '1h']],
  ])('take %j', async (args) => {
    expect(await api.run(args)).toMatchObject({ code: 0 })
  })
  it.each([
    [['jobs', 'list', '--status', 'asleep']],
    [['jobs', 'list', '--due-before', 'soon']],
    [['history', '--from', '1 hour']],
    [['history', '--from', '1h', '--since', '2h']],
    [['runs', 'redrive', '--dead', '--since', 'noon']],
    [['jobs', 'backfill', 'r', '--from', 'x', '--to', '1h']],
    [['jobs', 'skip', 'r', '--at', 'x']],
  ])('end with exit code 2 for %j', async (args) => {
    const before = api.asked.length
    expect(await api.run(args)).toMatchObject({ code: 2, out: '' })
    expect(api.asked).toHaveLength(before)
  })
})

it('times of a schedule are shown in the zone of this machine', async () => {
  const before = process.env.TZ
  try {
    process.env.TZ = 'Asia/Kolkata'
    const terminal = new FakeTerminal({ env: { DUELOG_URL: 'http://127.0.0.1:1' }, isTTY: false })
    const schedule = ['--cron', '0 9 * * *', '--from', '2030-01-01T00:00:00Z', '--count', '1']
    await main(['schedule', 'preview', ...schedule], terminal)
    expect(terminal.out.join('')).toBe('AT                         NOTE\n2030-01-01T14:30:00+05:30\n')
  } finally {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  }
})

it('a schedule is previewed without a server, and a wrong one is refused', async () => {
  const preview = async (...args: string[]) => {
    const terminal = new FakeTerminal({ env: { DUELOG_URL: 'http://127.0.0.1:1' }, isTTY: false })
    const code = await main(['schedule', 'preview', '--from', '2030-01-01T00:00:00Z', '--count', '2', ...args], terminal)
    return { code, out: terminal.out.join(''), err: terminal.err.join('') }
  }
  const { code, out, err } = await preview('--cron', '0 9 * * *', '--json')
  expect([
    code,
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).at),
  ]).toEqual([0, ['2030-01-01T09:00:00.000Z', '2030-01-02T09:00:00.000Z']])
  expect(err).toContain('time zone rules of this machine')
  expect(await preview('--cron', '61 9 * * *')).toMatchObject({ code: 2, out: '' })
})
