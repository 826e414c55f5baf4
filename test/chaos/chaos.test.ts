/**
 * A short drill on three real brokers, with the fault that no other test has: the broker that coordinates the groups falls silent. It
 * judges what is lost, doubled or early, and never how long something takes, because machines that run tests are busy. Owners and
 * brokers that are stopped or killed are in test/docker/topology.test.ts and test/faults. `npm run test:long` runs this one, and `npm run chaos` by hand runs all faults.
 */
import { fork } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { duelogEnvironment } from '../setup/environment.ts'
import type { Result } from './report/result.ts'

/**
 * Ends a drill that hangs. A drill takes 3 minutes; on a machine that runs other tests beside it, it waits far longer for its
 * conditions.
 */
const drillMsMax = 900_000
const faults = ['silent-coordinator']

test('a broker that coordinates the groups falls silent: nothing is lost, doubled or early', {
  timeout: drillMsMax,
}, async ({ onTestFinished, signal }) => {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-drill-'))
  const json = join(folder, 'results.json')
  const load = ['--jobs', '600', '--rate', '20', '--late-ms', '20000', '--seed', String(Date.now() % 1_000), '--audit', 'end']
  const child = fork(fileURLToPath(new URL('run.ts', import.meta.url)), ['--only', faults.join(), ...load, '--json', json], {
    env: duelogEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  const hear = (text: Buffer): void => {
    output += String(text)
  }
  child.stdout?.on('data', hear)
  child.stderr?.on('data', hear)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  signal.addEventListener('abort', () => child.kill('SIGTERM'))
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  const code = await ended
  expect(code, output).toBe(0)
  const results = JSON.parse(await readFile(json, 'utf8')) as Result[]
  expect(results, output).toMatchObject(
    faults.map((fault) => ({ fault, outcome: 'passed', lost: 0, duplicate: 0, early: 0, audit: 'clean' })),
  )
  for (const { fires } of results) expect(fires).toBeGreaterThan(100)
})
