/**
 * docker/Dockerfile without a container engine: the steps of the file are carried out in a folder, and what they make runs as the image
 * would, with the very health check and the very signal.
 */
import { execFile, spawnSync } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../faults/harness.ts'
import { readHouseFile } from '../house/tree.ts'
import { brokers, registryUrl, uniquePrefix } from '../kafka/harness.ts'
import { freePorts } from '../setup/free-ports.ts'
import { DuelogService } from './duelog-service.ts'

interface Instruction {
  name: string
  text: string
}
const root = fileURLToPath(new URL('../../', import.meta.url))
const instructions = readHouseFile('docker/Dockerfile')
  .text.replace(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line): Instruction => {
    const [, name = '', text = ''] = /^\s*([A-Z]+)\s+(.*)$/.exec(line) ?? []
    return { name, text: text.trim() }
  })
const all = (name: string): string[] => instructions.filter((each) => each.name === name).map(({ text }) => text)
const final = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
const one = (name: string): string => final.findLast((each) => each.name === name)?.text ?? ''
const ignored = readHouseFile('docker/Dockerfile.dockerignore').text.split('\n')

/** What the last stage takes from this house. */
const copied = final
  .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from'))
  .flatMap(({ text }) => text.split(/\s+/).slice(0, -1))

/** What any stage takes from it: files at the top, and its rooms. */
const taken = all('COPY')
  .filter((text) => !text.startsWith('--from'))
  .flatMap((text) => text.split(/\s+/).slice(0, -1))
  .map((path) => path.split('/')[0] ?? path)

test('packages and the dashboard are built in stages of their own, and the last stage does not run as root', () => {
  expect(all('FROM')).toHaveLength(3)
  expect(one('USER')).toBe('node')
  expect(all('COPY').filter((text) => text.startsWith('--chown'))).toEqual([])
})

test('the process is Duelog itself, which gets signals without a shell in between', () => {
  expect(JSON.parse(one('ENTRYPOINT'))).toEqual(['node', 'src/cli/duelog.ts'])
  expect(JSON.parse(one('CMD'))).toEqual(['up'])
})

test('the build context contains what is copied, and nothing else', () => {
  const letThrough = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  expect(ignored).toContain('*')
  expect(letThrough.toSorted()).toEqual([...new Set(taken)].toSorted())
})

/** The folder /app of the image. */
async function programOf(folder: string): Promise<string> {
  for (const path of ['package.json', 'package-lock.json']) await cp(join(root, path), join(folder, path))
  const install = all('RUN').find((text) => text.startsWith('npm ci')) ?? ''
  await promisify(execFile)('/bin/sh', ['-c', install], { cwd: folder, timeout: 200_000 }).catch((error: { stderr?: string }) => {
    throw new Error(`The image's packages could not be installed by "${install}": ${error.stderr?.slice(-1_000)}`)
  })
  for (const path of copied) await cp(join(root, path), join(folder, path), { recursive: true })
  return folder
}

test('the program runs without development packages, becomes healthy, and stops at its signal', async (context) => {
  const program = await programOf(await temporaryFolder(context))
  const [port] = await freePorts()
  const settings = Object.fromEntries(
    Array.from(one('ENV').matchAll(/(\w+)=(\S+)/g), ([, name = '', value = '']) => [name, value]),
  )
  expect(settings).toMatchObject({ DUELOG_HTTP_HOST: '0.0.0.0', NODE_ENV: 'production' })
  const environment = {
    ...settings,
    DUELOG_HTTP_HOST: '127.0.0.1',
    DUELOG_HTTP_PORT: String(port),
    DUELOG_DATA_DIR: join(program, 'data'),
    DUELOG_TOPIC_PREFIX: uniquePrefix(),
    DUELOG_PARTITIONS: '1',
    DUELOG_REPLICATION: '1',
    DUELOG_API_TOKENS: 'admin:a-token-of-the-test',
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
  }
  const [, check = '[]'] = /CMD (\[.*\])$/.exec(one('HEALTHCHECK')) ?? []
  const [, ...script] = JSON.parse(check) as string[]
  const health = () => spawnSync(process.execPath, script, { env: { ...process.env, ...environment } }).status
  expect(health()).toBe(1)
  const service = new DuelogService(context, 'image', environment, program)
  await service.ready()
  expect(health()).toBe(0)
  service.signal('SIGTERM')
  expect(await service.exited).toBe(0)
  expect(health()).toBe(1)
}, 300_000)
