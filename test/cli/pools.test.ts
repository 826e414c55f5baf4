/** What `duelog pools` and `duelog workers` print and ask. */
import { expect, it } from 'vitest'
import { type Canned, cannedApi } from './canned-api.ts'

const mail = {
  ...{ pool: 'mail', state: 'PAUSED', stateSince: '2026-11-25T08:00:00.000Z', pausedBy: 'operator', workers: 2, slots: 40 },
  ...{ handlers: ['send'], dispatched: 12, running: 1, waiting: 12_000, withoutHandler: 0, inPausedPool: 11_999 },
}
const plain = { ...mail, pool: 'default', state: 'ACTIVE', stateSince: null, pausedBy: null, slots: null, inPausedPool: 0 }
const worker = {
  ...{ instance: 'mailer@host-1:12:ab', name: 'mailer', state: 'ACTIVE', stateSince: null, pausedBy: null },
  ...{
    pools: [
      { pool: 'mail', slots: 20 },
      { pool: 'default', slots: 5 },
    ],
    running: 3,
    version: '1.2.0',
  },
  lastHeardAt: '2026-11-25T08:01:00.000Z',
}
const other = {
  ...worker,
  instance: 'mailer@host-2:13:cd',
  pools: [{ pool: 'mail', slots: null }],
  version: null,
  lastHeardAt: null,
}
const single = { ...worker, instance: 'report@host-3:1:ef', name: 'report', running: 1 }

const answers: Record<string, Canned> = {
  'GET /v1/pools': { body: { pools: [plain, mail] } },
  'POST /v1/pools/mail/pause': { body: mail },
  'POST /v1/pools/mail/drain': { body: { ...mail, state: 'DRAINING', inPausedPool: 1, running: 2 } },
  'POST /v1/pools/mail/resume': { body: { ...mail, state: 'ACTIVE', stateSince: null, inPausedPool: 0 } },
  'GET /v1/workers': { body: { workers: [worker, other, single] } },
  'POST /v1/workers/report@host-3:1:ef/pause': { body: { ...single, state: 'PAUSED' } },
  'POST /v1/workers/mailer@host-2:13:cd/drain': { body: { ...other, state: 'DRAINED', running: 0 } },
}
const refusal = { code: 'not-found', detail: 'There is no such pool or worker.', status: 404, retriable: false }
const api = cannedApi((request) => answers[request] ?? { status: 404, body: refusal })

it('lists pools and workers with the columns that an operator needs, and nothing for what is unknown', async () => {
  const pools = await api.run(['pools', 'list', '--utc'])
  expect(pools.out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    [
      'POOL',
      'STATE',
      'BY',
      'WORKERS',
      'WANTED',
      'SLOTS',
      'DISPATCHED',
      'RUNNING',
      'WAITING OR RETRY',
      'NO HANDLER',
      'PAUSED RUNS',
    ],
    ['default', 'ACTIVE', '2', '12', '1', '12,000', '0', '0'],
    ['mail', 'PAUSED since 2026-11-25T08:00:00Z', 'operator', '2', '40', '12', '1', '12,000', '0', '11,999'],
    [''],
  ])
  const workers = await api.run(['workers', 'list', '--utc'])
  expect(workers.out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['WORKER', 'STATE', 'BY', 'POOLS', 'SLOTS', 'RUNNING', 'VERSION', 'LAST HEARD'],
    ['mailer@host-1:12:ab', 'ACTIVE', 'mail default', '25', '3', '1.2.0', '2026-11-25T08:01:00Z'],
    ['mailer@host-2:13:cd', 'ACTIVE', 'mail', '3'],
    ['report@host-3:1:ef', 'ACTIVE', 'mail default', '25', '1', '1.2.0', '2026-11-25T08:01:00Z'],
    [''],
  ])
  expect((await api.run(['pools', 'list', '--json'])).out).toBe(`${JSON.stringify(plain)}\n${JSON.stringify(mail)}\n`)
})

it('pauses, drains and resumes pools, and says what waits and runs', async () => {
  expect(await api.run(['pools', 'pause', 'mail'])).toEqual({
    code: 0,
    out: 'mail is paused; 11,999 runs wait for it, and 1 runs.\n',
    err: '',
  })
  expect((await api.run(['pools', 'drain', 'mail'])).out).toBe('mail is draining; 1 run waits for it, and 2 run.\n')
  expect((await api.run(['pools', 'resume', 'mail'])).out).toBe('mail is active; 0 runs wait for it, and 1 runs.\n')
  const mixed = await api.run(['pools', 'pause', 'nowhere', 'mail', '--json'])
  expect(mixed.code).toBe(1)
  expect(
    mixed.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { pool: 'nowhere', ok: false, code: 'not-found', retriable: false },
    { pool: 'mail', ok: true, state: 'PAUSED', inPausedPool: 11_999 },
  ])
})

it('a worker is named by its whole name, or by its short name if one worker has it', async () => {
  expect((await api.run(['workers', 'pause', 'report'])).out).toBe('report is paused; 1 handler runs.\n')
  expect(api.asked.at(-1)).toBe('POST /v1/workers/report@host-3:1:ef/pause')
  expect((await api.run(['workers', 'drain', other.instance])).out).toBe(`${other.instance} is drained; 0 handlers run.\n`)
  const before = api.asked.length
  const unclear = await api.run(['workers', 'pause', 'mailer'])
  expect(unclear).toMatchObject({ code: 2, out: '' })
  expect(unclear.err).toMatch(/2 workers have the name mailer; .*mailer@host-1:12:ab/)
  expect(api.asked.slice(before)).toEqual(['GET /v1/workers'])
  expect(await api.run(['workers', 'resume', 'nobody'])).toMatchObject({
    code: 4,
    out: '',
    err: 'duelog: There is no such pool or worker.\n',
  })
})
