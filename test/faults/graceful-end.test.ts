/** The program as users start it, ended by a signal during its work. */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { connectLog } from '../../src/log/kafka/log.ts'
import { duelogEnvironment } from '../setup/environment.ts'
import { freePorts } from '../setup/free-ports.ts'
import { clean, type Occurrence } from '../tools/checker-audit.ts'
import type { Test } from '../tools/duelog-process.ts'
import { brokers, oneShots, openSite, registryUrl, temporaryFolder } from './harness.ts'

const program = fileURLToPath(new URL('../../src/program/cli/duelog.ts', import.meta.url))

/** `duelog up` with these settings; resolves with it when it has printed that it is ready. */
async function up(test: Test, settings: Record<string, string>) {
  const child = spawn(process.execPath, [program, 'up'], {
    env: duelogEnvironment({ DUELOG_LOG_LEVEL: 'warn', DUELOG_HTTP_PORT: '0', ...settings }),
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  test.onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const lines: string[] = []
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      if (line === 'Ready.') resolve()
    })
  })
  await Promise.race([ready, exited.then(() => Promise.reject(new Error(`It ended before it was ready: ${lines.join('\n')}`)))])
  return { exited, lines, pid: child.pid ?? 0, kill: (signal: NodeJS.Signals) => child.kill(signal) }
}

describe.concurrent('a whole system', () => {
  test('stopped by SIGTERM or SIGINT during its work leaves its groups, exits with 0 and loses nothing', {
    timeout: 300_000,
  }, async (context) => {
    const site = await openSite(context)
    const settings = {
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DUELOG_TOPIC_PREFIX: site.prefix,
      DUELOG_PARTITIONS: '2',
      DUELOG_REPLICATION: '1',
      DUELOG_DATA_DIR: join(site.folder, 'machine'),
    }
    const admin = await connectLog({ brokers, clientId: 'faults' }).admin()
    context.onTestFinished(() => admin.close())
    const expected: Occurrence[] = []
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const system = await up(context, settings)
      const before = site.checker.events.length
      expected.push(...(await site.write(oneShots(signal, 300, Date.now() + 300, 20))))
      await site.checker.until(() => site.checker.events.length > before + 50)
      system.kill(signal)
      expect(await system.exited).toEqual({ code: 0, signal: null })
      expect(system.lines.at(-1)).toBe('Stopped.')
      for (const role of ['scheduler', 'exec.default', 'retry'])
        expect(await admin.groupMembers(site.names.group(role))).toEqual([])
    }
    const last = await up(context, settings)
    await site.checker.succeeded(expected)
    last.kill('SIGTERM')
    expect(await last.exited).toEqual({ code: 0, signal: null })
    expect(await site.checker.audit(expected)).toEqual(clean)
    // No active run began twice: it was finished, or released before its start.
    const ended = site.checker.events.filter(({ type }) => type === 'SUCCEEDED').map(({ jobId }) => jobId)
    expect(new Set(ended).size).toBe(ended.length)
  })

  test('with its own broker and registry stops both with it', async (context) => {
    const folder = await temporaryFolder(context)
    const [kafka, registry] = await freePorts()
    const system = await up(context, {
      DUELOG_DATA_DIR: folder,
      DUELOG_EMBEDDED_KAFKA_PORT: String(kafka),
      DUELOG_EMBEDDED_REGISTRY_PORT: String(registry),
    })
    const pids = await Promise.all(
      ['kafka', 'registry'].map(async (name) => Number(await readFile(join(folder, `${name}.pid`), 'utf8'))),
    )
    for (const pid of pids) expect(lives(pid)).toBe(true)
    system.kill('SIGTERM')
    expect(await system.exited).toEqual({ code: 0, signal: null })
    for (const pid of pids) expect(lives(pid)).toBe(false)
  })
})

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
