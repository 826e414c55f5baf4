import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { reasonOf, startGuarded, stopStale } from '../../src/program/embedded/guarded-process.ts'
import { lives, program, temporaryFolder, written } from './harness.ts'

const guardFile = fileURLToPath(new URL('../../src/ground/process/guard.sh', import.meta.url))

/** A guard over a shell script. It kills after 1 s. */
async function guarded(folder: string, script: string): Promise<ChildProcess> {
  const path = await program(folder, 'program.sh', script)
  return spawn('/bin/sh', [guardFile, '1', join(folder, 'pid'), path, 'an argument', '*'], { stdio: ['pipe', 'pipe', 'pipe'] })
}

test('the guard passes arguments, output and exit code on, and takes its pid file away', async () => {
  const folder = await temporaryFolder()
  const guard = await guarded(folder, 'echo "$1|$2"; exit 7')
  const [[output], [code]] = await Promise.all([once(guard.stdout as NodeJS.ReadableStream, 'data'), once(guard, 'exit')])
  expect(String(output)).toBe('an argument|*\n')
  expect(code).toBe(7)
  expect(existsSync(join(folder, 'pid'))).toBe(false)
})

test('the guard ends its program when its input ends', async () => {
  const guard = await guarded(await temporaryFolder(), 'echo $$; exec sleep 1000')
  const [output] = await once(guard.stdout as NodeJS.ReadableStream, 'data')
  guard.stdin?.end()
  expect(await once(guard, 'exit')).toEqual([143, null])
  expect(lives(Number(output))).toBe(false)
})

test('the guard kills a program that does not end', async () => {
  const guard = await guarded(await temporaryFolder(), "trap '' TERM; echo $$; while :; do read -r _; sleep 0.1; done")
  const [output] = await once(guard.stdout as NodeJS.ReadableStream, 'data')
  guard.stdin?.end()
  expect(await once(guard, 'exit')).toEqual([137, null])
  expect(lives(Number(output))).toBe(false)
})

test('the guard survives a signal that is meant for its program', async () => {
  const folder = await temporaryFolder()
  const guard = await guarded(folder, 'exec sleep 1000')
  await written(folder, 'pid')
  guard.kill('SIGTERM')
  guard.stdin?.end()
  expect(await once(guard, 'exit')).toEqual([143, null])
})

test('a pid file that names another process is only removed', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'kafka.pid')
  for (const text of [String(process.pid), '1', '0', '-1', 'x', '']) {
    await writeFile(file, text)
    expect(await stopStale(file, folder)).toBeUndefined()
    expect(existsSync(file)).toBe(false)
  }
  expect(await stopStale(file, folder)).toBeUndefined()
})

test('a program that a signal has ended failed because of that, whatever it wrote before', async () => {
  const folder = await temporaryFolder()
  const java = await program(folder, 'program.sh', 'echo "an Exception of its start"; kill -KILL $$')
  const files = { logFile: join(folder, 'log'), pidFile: join(folder, 'pid') }
  const started = startGuarded({ title: 'Kafka', java, args: [], cwd: folder, env: process.env, ...files, dataDir: folder })
  await started.exited
  expect(started.failure('ended by itself').message).toBe(
    `Kafka ended by itself: SIGKILL was sent to it, as the system does where memory runs out (all of its output: ${files.logFile}).`,
  )
})

test.each([
  ['', 'it said nothing'],
  ['one\ntwo.\n\n', 'two'],
  ['an Exception here\nlater line\n', 'an Exception here'],
  ['Exception: a\n\tat x\nCaused by: b: c\n\tat y\n\t... 3 more\n', 'b: c'],
  ['java.io.IOException: No space left on device\nCaused by: other\n', 'java.io.IOException: No space left on device'],
])('the reason in %j is %j', (output, reason) => {
  expect(reasonOf(output)).toBe(reason)
})
