/** A whole Duelog with executor processes, on a real broker. */
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestContext } from 'vitest'
import type { Job } from '../../src/clients/library/index.ts'
import { brokers, registryUrl, type Site } from '../faults/harness.ts'
import { duelogEnvironment } from '../setup/environment.ts'

/** `duelog up` with executor processes, and a handler that works until its signal is aborted or its time is over. */
export async function up(
  context: TestContext,
  site: Site,
  processes: number | string,
  port = 0,
  more: Record<string, string> = {},
  stderr: 'ignore' | 'pipe' = 'ignore',
  moreHandlers = '',
): Promise<ChildProcess> {
  const handlers = join(site.folder, 'handlers.mjs')
  await writeFile(
    handlers,
    `import { setTimeout as wait } from 'node:timers/promises'
     export const pid = () => ({ pid: process.pid })
     export const slow = () => wait(1_500, { pid: process.pid })
     ${moreHandlers}`,
  )
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../src/program/cli/duelog.ts', import.meta.url)), 'up'], {
    env: duelogEnvironment({
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DUELOG_TOPIC_PREFIX: site.prefix,
      DUELOG_PARTITIONS: '2',
      DUELOG_REPLICATION: '1',
      DUELOG_DATA_DIR: join(site.folder, 'up'),
      DUELOG_HTTP_PORT: String(port),
      DUELOG_HANDLERS: handlers,
      DUELOG_EXECUTOR_PROCESSES: String(processes),
      DUELOG_LOG_LEVEL: 'silent',
      ...more,
    }) as NodeJS.ProcessEnv,
    stdio: ['ignore', 'ignore', stderr],
  })
  context.onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  })
  return child
}

/** A job that is due at once. */
export const job = (id: string, handler: string, more: Partial<Job> = {}): Job => ({
  id,
  schedule: { at: Date.now() },
  target: { handler },
  ...more,
})
