/** Auditors that come and go, on the real broker: partitions change hands, and a folder goes on with what it counted. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import { type System, startSystem } from '../../src/program/system/system.ts'
import { systemOfThisFile } from '../cli/built-program.ts'
import { silent } from '../executor/harness.ts'
import { copyFirst } from '../tools/copied-record.ts'

const patience = { timeout: 60_000, interval: 200 }
// Fires, and does not audit.
const roles = 'scheduler,executor,retrier,api'
const bed = systemOfThisFile('moving', { DUELOG_ROLES: roles, DUELOG_PARTITIONS: '4' })
const folders: string[] = []
const auditors = new Set<System>()

beforeAll(async () => {
  for (let index = 0; index < 2; index++) folders.push(await mkdtemp(join(tmpdir(), 'duelog-auditor-')))
})
afterAll(async () => {
  await Promise.all([...auditors].map((each) => each.stop()))
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 10 })))
})

async function auditorIn(folder: string | undefined): Promise<System> {
  const own = { DUELOG_ROLES: 'auditor', DUELOG_DATA_DIR: folder ?? '', DUELOG_HTTP_PORT: '0', DUELOG_AUDIT_GRACE_MS: '1000' }
  const config = readConfig({ ...bed.env, ...own })
  const system = await startSystem({ config, logger: silent })
  auditors.add(system)
  return system
}

async function stopped(system: System): Promise<void> {
  auditors.delete(system)
  await system.stop()
}

const proof = async () =>
  (await (await fetch(`${bed.system.url}/v1/proof`)).json()) as {
    audited: number
    runs: number
    found: number
    findings: Record<string, number>
  }
it('the audit continues when partitions move to another auditor and back, and finds faults of that time once', async () => {
  const jobs = Array.from({ length: 12 }, (_, index) =>
    JSON.stringify({ id: `steady-${index}`, schedule: { everyMs: 300 }, target: { handler: 'noop' } }),
  )
  expect(await bed.feed(jobs.join('\n'), 'jobs', 'apply', '-')).toMatchObject({ code: 0 })
  const first = await auditorIn(folders[0])
  await expect.poll(async () => (await proof()).audited, patience).toBe(4)
  await expect.poll(async () => (await proof()).runs, patience).toBeGreaterThan(20)

  const second = await auditorIn(folders[1])
  await stopped(first)
  await expect.poll(async () => (await proof()).audited, patience).toBe(4)
  const before = (await proof()).runs
  await copyFirst(`${bed.env.DUELOG_TOPIC_PREFIX}executions.default.normal`)
  await expect.poll(async () => (await proof()).findings.duplicate, patience).toBe(1)
  await expect.poll(async () => (await proof()).runs, patience).toBeGreaterThan(before + 20)

  // The folder of the first goes on where it stood: it reads what happened meanwhile, the duplicate too.
  await stopped(second)
  const again = await auditorIn(folders[0])
  await expect.poll(async () => (await proof()).audited, patience).toBe(4)
  await expect.poll(async () => (await proof()).findings.duplicate, patience).toBe(1)
  const { runs } = await proof()
  await expect.poll(async () => (await proof()).runs, patience).toBeGreaterThan(runs + 20)
  expect(await proof()).toMatchObject({ found: 1, findings: { duplicate: 1, missed: 0, lost: 0, gap: 0, early: 0 } })
  await stopped(again)
}, 180_000)
