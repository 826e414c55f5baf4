import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { EmbeddedOptions } from '../../src/program/embedded/options.ts'
import { startEmbedded } from '../../src/program/embedded/start.ts'
import { lives, optionsFor, pidIn, removed, temporaryFolder, written } from './harness.ts'

/** Another process that has the embedded programs up. */
async function holder(options: EmbeddedOptions): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('holder.ts', import.meta.url))
  const child = spawn(process.execPath, [file, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] })
  if (!child.stdout) throw new Error('no output')
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => Promise.reject(new Error('the holder ended')))])
  return child
}

async function killed(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** Pids of the children of a process, from its main thread. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.trim().split(' ').map(Number)
}

async function parentOf(pid: number): Promise<number> {
  return Number(/^PPid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/** The program itself goes on. */
async function killGuardOf(program: number): Promise<void> {
  const guard = await parentOf(program)
  const watchers = (await childrenOf(guard)).filter((pid) => pid !== program)
  for (const pid of [...watchers, guard]) process.kill(pid, 'SIGKILL')
}

test('a Duelog killed with kill -9 leaves no Java process behind', async () => {
  const dataDir = await temporaryFolder()
  const { options } = await optionsFor(dataDir)
  const parent = await holder(options)
  const pids = [await pidIn(dataDir, 'kafka'), await pidIn(dataDir, 'registry')]
  expect(pids.map(lives)).toEqual([true, true])
  await killed(parent)
  await Promise.all([removed(dataDir, 'kafka.pid'), removed(dataDir, 'registry.pid')])
  expect(pids.map(lives)).toEqual([false, false])
})

test('nor one that a call has started', async () => {
  const dataDir = await temporaryFolder()
  const { options } = await optionsFor(dataDir)
  const parent = await holder({ ...options, wantKafka: false, registryIdleMs: 1 })
  await removed(dataDir, 'registry.pid')
  const call = fetch(`http://127.0.0.1:${options.registryPort}/apis/ccompat/v7/subjects`)
  const failure = expect(call).rejects.toThrow()
  await written(dataDir, 'registry.pid')
  const pid = await pidIn(dataDir, 'registry')
  await killed(parent)
  await failure
  await removed(dataDir, 'registry.pid')
  expect(lives(pid)).toBe(false)
})

test.runIf(process.platform === 'linux')(
  'a process that outlived its guard is recognized and stopped at the next start',
  async () => {
    const dataDir = await temporaryFolder()
    const { options, lines } = await optionsFor(dataDir)
    const parent = await holder({ ...options, wantKafka: false })
    const stale = await pidIn(dataDir, 'registry')
    await killGuardOf(stale)
    await killed(parent)
    expect(lives(stale)).toBe(true)

    const embedded = await startEmbedded({ ...options, wantKafka: false })
    try {
      expect(lives(stale)).toBe(false)
      expect(await pidIn(dataDir, 'registry')).not.toBe(stale)
      expect(lines.find(({ level }) => level === 'warn')?.fields).toMatchObject({
        event: 'stale-process-stopped',
        stalePid: stale,
        name: 'registry',
      })
    } finally {
      await embedded.stop()
    }
  },
)

test.runIf(process.platform === 'linux')(
  'a registry that outlived its guard ends before a call starts the next one',
  async () => {
    const dataDir = await temporaryFolder()
    const { options, said } = await optionsFor(dataDir)
    const embedded = await startEmbedded({ ...options, wantKafka: false })
    try {
      const stale = await pidIn(dataDir, 'registry')
      await killGuardOf(stale)
      await said('embedded-registry-failed')
      expect((await fetch(`${embedded.registryUrl}/subjects`)).status).toBe(200)
      expect(lives(stale)).toBe(false)
      expect(await pidIn(dataDir, 'registry')).not.toBe(stale)
    } finally {
      await embedded.stop()
    }
  },
)
