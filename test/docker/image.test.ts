/**
 * docker/Dockerfile without a container engine: the steps of the file are carried out in a folder, and what they make runs as the image
 * would, with the very health check and the very signal.
 */
import { execFile, spawnSync } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../faults/harness.ts'
import { filesIn, importsOf, readHouseFile } from '../house/tree.ts'
import { brokers, registryUrl, uniquePrefix } from '../kafka/harness.ts'
import { freePorts } from '../setup/free-ports.ts'
import { newAuthority } from '../tools/certificates.ts'
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
  // A number, of which Kubernetes can prove that it is not root, and which owns the data.
  expect(one('USER')).toBe('1000:1000')
  expect(one('RUN')).toMatch(/useradd --uid 1000 .*install -d -o node -g node -m 0700 \/var\/lib\/duelog$/)
  expect(all('COPY').filter((text) => text.startsWith('--chown'))).toEqual([])
})

test('the stage that builds the dashboard has every file that the dashboard imports', () => {
  const from = instructions.findIndex(({ name, text }) => name === 'FROM' && text.endsWith('AS dashboard'))
  const end = instructions.findIndex(({ name }, at) => at > from && name === 'FROM')
  const stage = instructions.slice(from, end).filter(({ name }) => name === 'COPY')
  const there = stage.flatMap(({ text }) => text.split(/\s+/).slice(0, -1))
  const has = (path: string): boolean => there.some((each) => path === each || path.startsWith(`${each}/`))
  const known = new Map(filesIn(['src', 'streams', 'schemas']).map((file) => [file.path, file]))
  const open = [...known.keys()].filter((path) => path.startsWith('src/clients/dashboard/'))
  const seen = new Set(open)
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const file = known.get(path)
    for (const target of file === undefined ? [] : importsOf(file).filter((each) => known.has(each) && !seen.has(each))) {
      seen.add(target)
      open.push(target)
    }
  }
  expect(seen.size).toBeGreaterThan(20)
  expect([...seen].filter((path) => !has(path))).toEqual([])
})

test('the process is Duelog itself, which gets signals without a shell in between', () => {
  expect(JSON.parse(one('ENTRYPOINT'))).toEqual(['node', 'src/program/cli/duelog.ts'])
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

const [, check = '[]'] = /CMD (\[.*\])$/.exec(one('HEALTHCHECK')) ?? []
const [, ...healthScript] = JSON.parse(check) as string[]

test('the health check asks a server with HTTPS too, and believes only 200', async (context) => {
  const { sign } = newAuthority(await temporaryFolder(context))
  const { cert, key, certFile } = sign('duelog')
  let status = 200
  const server = createServer({ cert, key }, (request, answer) => answer.writeHead(request.url === '/livez' ? status : 404).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const env = { ...process.env, DUELOG_HTTPS_CERT_FILE: certFile, DUELOG_HTTP_PORT: String(port) }
  const health = () =>
    promisify(execFile)(process.execPath, healthScript, { env }).then(
      () => 0,
      ({ code }) => code,
    )
  expect(await health()).toBe(0)
  status = 503
  expect(await health()).toBe(1)
})

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
  const health = () => spawnSync(process.execPath, healthScript, { env: { ...process.env, ...environment } }).status
  expect(health()).toBe(1)
  const service = new DuelogService(context, 'image', environment, program)
  await service.ready()
  expect(health()).toBe(0)
  service.signal('SIGTERM')
  expect(await service.exited).toBe(0)
  expect(health()).toBe(1)
}, 300_000)
