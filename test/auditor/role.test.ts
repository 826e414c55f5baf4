/** The role auditor in a running system on the real broker. */
import { expect, it } from 'vitest'
import { systemOfThisFile } from '../cli/built-program.ts'
import { copyFirst } from '../tools/copied-record.ts'

const patience = { timeout: 60_000, interval: 200 }
const bed = systemOfThisFile('proof', { DUELOG_AUDIT_GRACE_MS: '1000', DUELOG_TARGET_TOPICS: 'nothing.*' })

interface Proof {
  audited: number
  judgedUntil: string | null
  runs: number
  occurrences: number
  found: number
  findings: Record<string, number>
  recent: { kind: string; what: string; detail: string }[]
}
const get = async (path: string) => (await fetch(`${bed.system.url}${path}`)).text()
const proof = async () => JSON.parse(await get('/v1/proof')) as Proof
const metric = async (name: string): Promise<number> =>
  Number(new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\S+)$`, 'm').exec(await get('/metrics'))?.[1] ?? 0)

it('the role judges runs while they run, and shows a planted duplicate in the API and as a metric', async () => {
  const job = (id: string, handler: string) =>
    JSON.stringify({
      ...{ id, schedule: { everyMs: 200 }, maxRuns: 10, overlap: 'ALLOW', target: { handler }, payload: { times: 1 } },
      retry: { maxAttempts: 2, backoff: { fixed: { delayMs: 0 } } },
    })
  const steady = JSON.stringify({ id: 'steady', schedule: { everyMs: 500 }, target: { handler: 'noop' } })
  const input = `${job('a', 'noop')}\n${job('b', 'noop')}\n${job('c', 'fail')}\n${steady}\n`
  expect(await bed.feed(input, 'jobs', 'apply', '-')).toMatchObject({ code: 0 })
  await expect.poll(async () => (await proof()).runs, patience).toBeGreaterThan(35)
  expect(await proof()).toMatchObject({ audited: 2, found: 0, findings: { duplicate: 0 }, recent: [] })
  await expect.poll(async () => (await proof()).occurrences, patience).toBeGreaterThan(5)
  expect(await metric('duelog_audit_runs_total')).toBeGreaterThan(35)

  await copyFirst(`${bed.env.DUELOG_TOPIC_PREFIX}executions.default.normal`)
  await expect.poll(async () => (await proof()).found, patience).toBe(1)
  const { recent, findings } = await proof()
  expect(findings.duplicate).toBe(1)
  expect(recent).toMatchObject([{ kind: 'duplicate', what: expect.stringMatching(/^(a|b|c|steady)\/1$/) }])
  await expect.poll(() => metric('duelog_audit_findings_total{kind="duplicate"}'), patience).toBe(1)
})

it('the role finds nothing in jobs of all kinds that run correctly', async () => {
  const every = { everyMs: 300 }
  const kinds: Record<string, object> = {
    queued: { schedule: every, target: { handler: 'sleep' }, payload: { ms: 500 }, overlap: 'QUEUE_ONE' },
    skipped: { schedule: every, target: { handler: 'sleep' }, payload: { ms: 500 } },
    replaced: { schedule: { everyMs: 1_000 }, target: { handler: 'sleep' }, payload: { ms: 1_300 }, overlap: 'CANCEL_PREVIOUS' },
    'slot-1{k}': { schedule: every, target: { handler: 'noop' }, concurrencyKey: 'one', overlap: 'ALLOW' },
    'rate-1{k}': {
      schedule: every,
      target: { handler: 'noop' },
      rateLimit: { key: 'r', limit: 2, perMs: 1_000 },
      overlap: 'ALLOW',
    },
    dead: { schedule: { delayMs: 50 }, target: { handler: 'fail' }, payload: { times: 9 }, retry: { maxAttempts: 1 } },
    late: { schedule: { cron: '* * * * * *' }, target: { handler: 'noop' }, jitterMs: 400 },
    end: { schedule: { everyMs: 300, from: 'END' }, target: { handler: 'noop' } },
    once: { schedule: { delayMs: 100 }, target: { handler: 'noop' } },
  }
  const send = (method: string, path: string, body?: object) =>
    fetch(`${bed.system.url}/v1/jobs/${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
  for (const [id, job] of Object.entries(kinds)) {
    const answer = await send('PUT', `${encodeURIComponent(id)}?wait=applied`, job)
    expect({ id, ok: answer.ok, text: answer.ok ? '' : await answer.text() }).toEqual({ id, ok: true, text: '' })
  }
  const { found: foundBefore, runs: runsBefore } = await proof()
  await expect.poll(async () => (await proof()).runs, patience).toBeGreaterThan(runsBefore + 25)
  await send('POST', 'skipped/pause?wait=applied', {})
  await send('POST', 'queued/trigger?wait=applied', {})
  // Another life of the same id, and other times.
  await send('DELETE', 'end?wait=applied')
  await send('PUT', 'end?wait=applied', kinds.end ?? {})
  await send('PUT', 'late?wait=applied', { schedule: { everyMs: 700 }, target: { handler: 'noop' } })
  await send('POST', 'skipped/resume?wait=applied', {})
  const before = (await proof()).runs
  await expect.poll(async () => (await proof()).runs, patience).toBeGreaterThan(before + 40)
  const { found, recent } = await proof()
  expect({ found, recent: recent.slice(0, found - foundBefore) }).toEqual({ found: foundBefore, recent: [] })
  for (const id of Object.keys(kinds)) await send('DELETE', `${encodeURIComponent(id)}?wait=applied`)
})
