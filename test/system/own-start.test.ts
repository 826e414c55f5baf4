/** What a start does before anything else of it runs: no broker and no registry is started here. */
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import type { Embedded } from '../../src/program/embedded/options.ts'
import { startOwn } from '../../src/program/system/embedded.ts'
import { ProcessHealth } from '../../src/program/system/health.ts'
import { knownIdsIn } from '../../src/program/system/schema-cache.ts'
import { startSystem } from '../../src/program/system/system.ts'

const embedded = vi.hoisted(() => ({ start: vi.fn<() => Promise<Embedded>>() }))
vi.mock('../../src/program/embedded/start.ts', () => ({ startEmbedded: embedded.start }))

/** As an earlier version left it. */
function openFolder(): string {
  const made = mkdtempSync(join(tmpdir(), 'duelog-own-'))
  chmodSync(made, 0o755)
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

it('the data folder is accessible only for its user before a broker starts in it', async () => {
  const dataDir = openFolder()
  const modes: number[] = []
  embedded.start.mockImplementationOnce(async () => {
    modes.push(statSync(dataDir).mode & 0o777)
    throw new Error('as far as this goes')
  })
  const started = startSystem({ config: readConfig({ DUELOG_DATA_DIR: dataDir }), logger: pino({ level: 'silent' }) })
  await expect(started).rejects.toThrow('as far as this goes')
  expect(modes).toEqual([0o700])
})

it.each([
  ['viewer:0123456789abcdef', 1],
  [undefined, 0],
])('the start logs what tokens do not guard if there is anything: %s', async (tokens, times) => {
  const dataDir = openFolder()
  embedded.start.mockResolvedValueOnce({
    brokers: ['b:1'],
    registryUrl: 'http://r',
    registryUp: Promise.resolve(),
    stop: async () => {},
  })
  const lines: string[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const config = readConfig({ DUELOG_DATA_DIR: dataDir, ...(tokens && { DUELOG_API_TOKENS: tokens }) })
  await startOwn({ config }, logger, new ProcessHealth(() => {}), knownIdsIn(dataDir))
  expect(lines.filter((line) => line.includes('DUELOG_API_TOKENS protect the HTTP API only'))).toHaveLength(times)
})
