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

it('judges what runs while it runs, and shows a duplicate that somebody wrote, in the API and as a metric', async () => {
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
