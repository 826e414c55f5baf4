/** No command lets a text that others wrote control the terminal of an operator: ids, names, errors, results, logs, refusals. */
import { expect, it } from 'vitest'
import { planLines } from '../../src/program/cli/jobs/plan-command.ts'
import { painterOf } from '../../src/program/cli/terminal/style.ts'
import { timeTextOf } from '../../src/program/cli/terminal/times.ts'
import { cannedApi } from './canned-api.ts'

/** Sets the title, hides text, clears the screen, moves the cursor, an 8-bit CSI, turns the direction, a line of its own. */
const hostile = 'x\u001b]0;title\u0007\u001b[8m\u001b[2J\r\u009b31m\u202egpj\u2066\u0085\u007f\nfake'
const time = '2026-11-25T08:00:00.000Z'
const error = { attempt: 1, at: time, type: hostile, message: hostile, stack: hostile }
const run = {
  ...{ runId: `${hostile}/1`, jobId: hostile, runNo: 1, status: hostile, scheduledFor: time, trigger: hostile, attempts: 1 },
  ...{ startedAt: time, finishedAt: time, worker: hostile, progress: 0.5, message: hostile, result: { [hostile]: hostile } },
  ...{
    errors: [error],
    outcome: hostile,
    durationMs: 1,
    handler: hostile,
    errorType: hostile,
    errorMessage: hostile,
    reason: hostile,
  },
}
const definition = {
  schedule: { cron: hostile, timezone: hostile },
  target: { handler: hostile, pool: hostile },
  tags: [hostile],
  payload: hostile,
}
const job = {
  ...{
    id: hostile,
    status: hostile,
    reason: hostile,
    nextFireAt: hostile,
    definition,
    lastRun: run,
    active: [run],
    deadRuns: [1],
  },
  ...{ runNo: 1, succeeded: 1, failed: 0, skipped: 0, cancelled: 0, etag: hostile },
}
const operation = {
  ...{ id: hostile, action: hostile, filter: { tag: hostile }, listed: null, status: 'FAILED', applied: 1, refused: 1, total: 2 },
  ...{ reasons: [{ count: 1, reason: hostile, example: hostile }], problem: hostile, actor: hostile, driver: hostile },
  ...{ createdAt: time, startedAt: time, endedAt: time },
}
const pool = {
  ...{ pool: hostile, state: hostile, stateSince: hostile, workers: 1, slots: 1, dispatched: 0, running: 0, waiting: 0 },
  ...{ withoutHandler: 0, inPausedPool: 0 },
}
const worker = {
  instance: hostile,
  name: hostile,
  state: hostile,
  stateSince: null,
  pools: [{ pool: hostile, slots: 1 }],
  running: 0,
  version: hostile,
  lastHeardAt: hostile,
}
const refusal = { code: 'command-refused', detail: hostile, status: 409, retriable: false }

const answers: Record<string, unknown> = {
  'GET /v1/jobs': { jobs: [job], nextPageToken: null },
  'GET /v1/jobs/j': job,
  'GET /v1/jobs/j/why': { status: hostile, why: [{ code: hostile, text: hostile, at: hostile }] },
  'GET /v1/jobs/j/runs': { runs: [run] },
  'GET /v1/runs/j/1': run,
  'GET /v1/jobs/j/runs/1/logs': {
    lines: [{ at: time, attempt: 1, level: 'info', text: hostile, fields: { [hostile]: hostile } }],
    ...{ unreadable: 0, caughtUp: true, nextPageToken: null },
  },
  'GET /v1/history': { runs: [run], nextPageToken: null },
  'GET /v1/operations': { operations: [operation] },
  'GET /v1/operations/o': operation,
  'GET /v1/pools': { pools: [pool] },
  'GET /v1/workers': { workers: [worker] },
}
const api = cannedApi((request) => {
  const body = answers[request]
  return body === undefined ? { status: 409, body: refusal } : { body }
})

/** The sequences that the program itself writes: colors, and those of its progress bar. */
const own = /\u001b\[(?:3[1236]|39|1|2|22)m/g
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/

const commands = [
  ...[
    ['jobs', 'list'],
    ['jobs', 'get', 'j'],
    ['jobs', 'get', 'j', '--definition'],
    ['jobs', 'why', 'j'],
  ],
  ...[['jobs', 'diff-tz'], ['runs', 'list', 'j'], ['runs', 'get', 'j/1'], ['runs', 'logs', 'j/1'], ['history']],
  ...[
    ['operations', 'list'],
    ['operations', 'get', 'o'],
    ['operations', 'cancel', 'o'],
    ['pools', 'list'],
  ],
  ...[
    ['pools', 'pause', 'a', 'b'],
    ['workers', 'list'],
    ['jobs', 'pause', 'j'],
    ['jobs', 'pause', 'j', 'k'],
  ],
]

it.each(commands.map((args) => ({ args })))('duelog $args', async ({ args }) => {
  for (const more of [[], ['--json']]) {
    const { out, err } = await api.run([...args, ...more], true)
    expect(out + err).not.toBe('')
    expect((out + err).replace(own, '')).not.toMatch(controls)
    expect(out + err).not.toContain('\nfake')
  }
})

it('duelog jobs get, also into a pipe or a pager, unlike its forms for programs', async () => {
  expect((await api.run(['jobs', 'get', 'j'])).out).not.toMatch(controls)
  expect(JSON.parse((await api.run(['jobs', 'get', 'j', '--json'])).out).definition).toEqual(definition)
})

it('the text of a plan', () => {
  const fires = { added: [hostile], removed: [], moved: [], kept: 0, until: time }
  const planned = { id: hostile, action: 'UPDATE' as const, changed: [hostile], reason: hostile, fires, warnings: [hostile] }
  const text = planLines({ file: hostile, line: 1 }, planned, {
    paint: painterOf({ write: () => {}, isTTY: true }, {}),
    time: timeTextOf(false),
  })
  expect(text.replace(own, '')).not.toMatch(controls)
  expect(text).not.toContain('\nfake')
})
