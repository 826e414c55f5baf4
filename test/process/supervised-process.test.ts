/** Supervised processes that are restarted when they end. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { readyMsMax, type SupervisedPlan, supervise } from '../../src/ground/process/supervised-process.ts'
import { ManualClock } from '../tools/manual-clock.ts'

/** A supervised shell script, and how it ended each time. */
async function kept(script: string, { stopSeconds = 5, isReady }: Partial<Pick<SupervisedPlan, 'stopSeconds' | 'isReady'>> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-kept-'))
  const path = join(folder, 'program.sh')
  await writeFile(path, script)
  const clock = new ManualClock()
  const ends: string[] = []
  const waits: number[] = []
  let wake = (): void => {}
  const process = supervise({
    title: 'a script',
    command: '/bin/sh',
    args: [path],
    env: { PATH: '/usr/bin:/bin' },
    folder: join(folder, 'own'),
    stopSeconds,
    ...(isReady && { isReady }),
    clock,
    logger: pino({ level: 'error' }, { write: (line) => waits.push(JSON.parse(line).againMs) }),
    onEnd: (how) => {
      ends.push(how)
      wake()
    },
  })
  onTestFinished(async () => {
    await process.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const ended = async (times: number): Promise<void> => {
    while (ends.length < times) await new Promise<void>((resolve) => (wake = resolve))
    // The next wait starts in the same turn of the event loop, after this call.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { process, clock, ends, ended, folder, waits }
}

it('is started again after 1, 2, 4, … and at most 30 s, and its exit is reported', async () => {
  const { clock, ends, ended, waits } = await kept('exit 3')
  const wanted = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]
  for (const [index, waitMs] of wanted.entries()) {
    await ended(index + 1)
    await clock.advance(waitMs)
  }
  await ended(8)
  expect(waits).toEqual([...wanted, 30_000])
  expect(ends).toEqual(Array(8).fill('code 3'))
})

it('begins with the shortest wait again after it was up for a minute', async () => {
  const { clock, ended, folder, waits } = await kept(
    'cd "$(dirname "$0")"; while ! rm end 2>/dev/null; do sleep 0.05; done; exit 3',
  )
  for (const [index, upMs] of [0, 0, 60_000].entries()) {
    await clock.advance(upMs)
    await writeFile(join(folder, 'end'), '')
    await ended(index + 1)
    await clock.advance(waits.at(-1) ?? 0)
  }
  expect(waits).toEqual([1_000, 2_000, 1_000])
})

it('reports the signal that killed it', async () => {
  const { ends, ended } = await kept('kill -KILL $$')
  await ended(1)
  expect(ends).toEqual(['SIGKILL'])
})

it('gets SIGTERM at the stop and may finish; it is not started again', async () => {
  const { process, clock, ends, folder } = await kept(
    `trap 'echo drained >"$(dirname "$0")/said"; exit 0' TERM; echo up >"$(dirname "$0")/said"; while :; do sleep 0.05; done`,
  )
  await expect.poll(() => readFile(join(folder, 'said'), 'utf8').catch(() => '')).toBe('up\n')
  await process.stop()
  expect(await readFile(join(folder, 'said'), 'utf8')).toBe('drained\n')
  expect(ends).toEqual([])
  expect(clock.armed).toBe(0)
})

it('is not started again when the stop comes while it waits', async () => {
  const { process, clock, ended } = await kept('exit 1')
  await ended(1)
  await process.stop()
  expect(clock.armed).toBe(0)
})

it('is started again if it stands still before it is ready, and not afterwards', async () => {
  const { clock, ends, ended, folder } = await kept(
    `cd "$(dirname "$0")"; echo up >>said; [ $(wc -l <said) = 2 ] && echo '{"ready":true}' >&4; kill -STOP $$`,
    { isReady: (message) => (message as { ready?: boolean }).ready === true },
  )
  const said = () => readFile(join(folder, 'said'), 'utf8').catch(() => '')
  await expect.poll(said).toBe('up\n')
  await clock.advance(readyMsMax)
  await ended(1)
  expect(ends).toEqual(['no start within 120 s'])
  await clock.advance(1_000)
  await expect.poll(() => clock.armed).toBe(0)
  expect(await said()).toBe('up\nup\n')
})
