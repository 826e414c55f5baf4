/** Who else on this machine may read what Duelog keeps. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { keepPrivate } from '../../src/ground/process/private-folder.ts'
import { rocksStores } from '../../src/log/store/rocks-store.ts'
import { warnOfOpenDoors, warnOfOwnRegistry } from '../../src/program/system/embedded.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'duelog-private-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}
const modeOf = (path: string): number => statSync(path).mode & 0o777
const warned: unknown[] = []
const logger = { warn: (...said: unknown[]) => void warned.push(said) }

/** As earlier versions left it. */
function open(path: string): void {
  mkdirSync(join(path, 'scheduler'), { recursive: true })
  writeFileSync(join(path, 'instance'), 'a')
  for (const name of ['', 'scheduler']) chmodSync(join(path, name), 0o755)
  chmodSync(join(path, 'instance'), 0o644)
}

it('a new folder is readable for its user alone', async () => {
  const path = join(folder(), 'deep', 'data')
  await keepPrivate(path, logger)
  expect(modeOf(path)).toBe(0o700)
  expect(warned).toEqual([])
})

it('a folder that an earlier version left open is closed, with all its content', async () => {
  const path = folder()
  open(path)
  await keepPrivate(path, logger)
  expect([path, join(path, 'scheduler'), join(path, 'instance')].map(modeOf)).toEqual([0o700, 0o700, 0o600])
})

it('a folder with other files keeps its mode and theirs; ours are closed', async () => {
  const path = folder()
  open(path)
  mkdirSync(join(path, 'photos'))
  const target = folder()
  chmodSync(target, 0o755)
  chmodSync(join(path, 'photos'), 0o755)
  symlinkSync(target, join(path, 'kafka'))
  await keepPrivate(path, logger)
  expect([path, join(path, 'photos'), target].map(modeOf)).toEqual([0o755, 0o755, 0o755])
  expect([join(path, 'scheduler'), join(path, 'instance')].map(modeOf)).toEqual([0o700, 0o600])
})

it('a folder that cannot be closed causes a warning and no stop', async () => {
  const path = join(folder(), 'file')
  writeFileSync(path, '')
  await keepPrivate(join(path, 'data'), logger)
  expect(JSON.stringify(warned.splice(0))).toContain('mode 0700')
})

it('stores are in closed folders of their own', async () => {
  const path = join(folder(), 'scheduler')
  const { store } = await rocksStores(path).open(0)
  expect(modeOf(path)).toBe(0o700)
  await store.close()
})

it('the start lists the ports that tokens do not guard', () => {
  const ports = { embeddedKafkaPort: 19_092, embeddedRegistryPort: 18_081 }
  const said = (config: { brokers?: string[]; registryUrl?: string }): string => {
    warnOfOpenDoors({ brokers: undefined, registryUrl: undefined, ...ports, ...config }, logger)
    return warned.splice(0).join()
  }
  expect(said({})).toMatch(/DUELOG_API_TOKENS .*127\.0\.0\.1:19092 and .*127\.0\.0\.1:18081/)
  expect(said({ brokers: ['b:9092'] })).toMatch(/registry/)
  expect(said({ brokers: ['b:9092'] })).not.toMatch(/broker on/)
  expect(said({ brokers: ['b:9092'], registryUrl: 'http://r' })).toBe('')
})

it('the start says that a cluster has a registry that others do not reach', () => {
  const said = (config: { brokers?: string[]; registryUrl?: string }): string => {
    warnOfOwnRegistry({ brokers: undefined, registryUrl: undefined, embeddedRegistryPort: 18_081, ...config }, logger)
    return warned.splice(0).join()
  }
  expect(said({ brokers: ['b:9092'] })).toMatch(/SCHEMA_REGISTRY_URL is not: .*127\.0\.0\.1:18081/)
  expect(said({ brokers: ['b:9092'], registryUrl: 'http://r' })).toBe('')
  expect(said({})).toBe('')
})
