/** A separate Duelog with its dashboard for one test: own topics, own data, and a port that survives restarts. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { TestContext } from 'vitest'
import { waitForFolder } from '../../src/program/embedded/folder-lock.ts'
import { freePorts } from '../setup/free-ports.ts'
import { DuelogProcess } from '../tools/duelog-process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Builds the dashboard into the folder that the server serves, so that the tests run the current sources. The first file of a run does it for all. */
export async function buildDashboard(): Promise<void> {
  // The folder of the run, from global.ts.
  const folder = process.env.DUELOG_TEST_PACKED ?? ''
  const built = join(folder, 'dashboard-built')
  const lock = await waitForFolder(folder)
  try {
    if (existsSync(built)) return
    await promisify(execFile)(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build'], { cwd: root })
    await writeFile(built, '')
  } finally {
    await lock.release()
  }
}

export interface DashboardSite {
  url: string
  /** Starts the process, also again after a kill. */
  start(more?: Record<string, string>): Promise<DuelogProcess>
  put(id: string, definition: object): Promise<void>
  get<Answer>(path: string): Promise<Answer>
  /** As somebody else would, beside the page. */
  cancel(id: string, runNo: number): Promise<void>
}

export async function openDashboardSite(context: TestContext, settings: Record<string, string> = {}): Promise<DashboardSite> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-site-'))
  context.onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [, port] = await freePorts()
  const url = `http://127.0.0.1:${port}`
  const admin = /admin:([^,]+)/.exec(settings.DUELOG_API_TOKENS ?? '')?.[1]
  const headers = { 'content-type': 'application/json', ...(admin === undefined ? {} : { authorization: `Bearer ${admin}` }) }
  const ask = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, { ...init, headers })
    if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  return {
    url,
    start: (more = {}) =>
      DuelogProcess.system(context, {
        KAFKA_BROKERS: process.env.DUELOG_TEST_BROKERS ?? '',
        SCHEMA_REGISTRY_URL: process.env.DUELOG_TEST_REGISTRY ?? '',
        DUELOG_TOPIC_PREFIX: `page-${port}.`,
        DUELOG_PARTITIONS: '2',
        DUELOG_REPLICATION: '1',
        DUELOG_DATA_DIR: folder,
        DUELOG_HTTP_PORT: String(port),
        ...settings,
        ...more,
      }),
    async put(id, definition) {
      await ask(`/v1/jobs/${id}?wait=applied`, { method: 'PUT', body: JSON.stringify(definition) })
    },
    async cancel(id, runNo) {
      await ask(`/v1/runs/${id}/${runNo}/cancel`, { method: 'POST', body: '{}' })
    },
    get: async <Answer>(path: string) => (await ask(path)) as Answer,
  }
}
