/** A store keeps nothing of what was read from it: the system does, and gives it back. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

test('reading a store of 40 MB fills no permanent cache of 32 MB in the process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-memory-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const script = fileURLToPath(new URL('store-reader.ts', import.meta.url))
  const run = (how: string) => promisify(execFile)(process.execPath, ['--expose-gc', script, folder, how])
  await run('write')
  const { stdout } = await run('read')
  const { beforeMb, afterMb } = JSON.parse(stdout) as { beforeMb: number; afterMb: number }
  expect(afterMb - beforeMb).toBeLessThan(30)
}, 120_000)
