/** The example project, as a user has it: the package from its tarball by `npm install`, its types, its own tests, its demo on a real broker. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signingKey } from '../../examples/reminders-app/src/system.ts'
import { brokers, registryUrl } from '../kafka/harness.ts'
import { duelogEnvironment } from '../setup/environment.ts'
import { modules, packInto } from '../setup/packed.ts'
import { openPlace } from '../targets/harness.ts'

const run = promisify(execFile)
const endMsMax = 110_000
const source = fileURLToPath(new URL('../../examples/reminders-app/', import.meta.url))

let folder = ''
let app = ''

/** Runs a script of the project with the Node of the repository, and resolves with what it wrote. */
async function npm(args: string[], settings: Record<string, string> = {}): Promise<string> {
  const path = `${join(modules, '.bin')}${delimiter}${process.env.PATH}`
  const env = duelogEnvironment({ ...settings, PATH: path, NO_COLOR: '1' })
  const { stdout } = await run('npm', args, { cwd: app, env, timeout: endMsMax }).catch(
    (error: { message: string; stdout?: string; stderr?: string }) => {
      throw new Error(`npm ${args.join(' ')} failed: ${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`)
    },
  )
  return stdout
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-app-'))
  // As in the repository: the tarball is where `npm pack` leaves it, and the project finds it by its relative path.
  app = join(folder, 'examples/reminders-app')
  const isOwn = (path: string): boolean => !path.includes('node_modules')
  await Promise.all([packInto(folder), cp(source, app, { recursive: true, filter: isOwn })])
  await npm(['install', '--no-audit', '--no-fund', '--prefer-offline'])
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the app of the examples', () => {
  it('compiles', async () => {
    expect(await npm(['run', '--silent', 'check'])).toBe('')
  })

  it('has tests, which pass without Kafka', async () => {
    const report = await npm(['test', '--silent', '--', '--test-reporter=tap'])
    expect(report).toMatch(/^# pass [1-9]\d*$/m)
    expect(report).toMatch(/^# fail 0$/m)
    expect(report).toMatch(/^# skipped 0$/m)
  })

  it('runs on a real broker: result, reminders, reports by zone, limits by customer, webhooks that are redriven', async () => {
    const place = await openPlace()
    const system = await place.start({ DUELOG_HTTP_ALLOW: '127.0.0.1', DUELOG_HTTP_SIGNING_KEY: signingKey })
    const output = await npm(['run', '--silent', 'demo'], {
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DUELOG_TOPIC_PREFIX: place.prefix,
      DUELOG_URL: system.url,
    })
    const lines = output
      .replace(/\d{4}-\d\d-\d\d/g, '<day>')
      .trim()
      .split('\n')
    expect(lines).toEqual([
      'quote: { cents: 1000 }',
      'reminders: ann: Your cart cart-1 is still here; carol: Your cart cart-3 is still here',
      "report of ann: { night: '<day> 03:00' }",
      "report of bob: { night: '<day> 03:00' }",
      "report of carol: { night: '<day> 03:00' }",
      'contacts of acme: at most 2 at once',
      'contacts of globex: at most 2 at once',
      'webhooks: DEAD, DEAD, DEAD',
      'redriven: SUCCEEDED, SUCCEEDED, SUCCEEDED; delivered: order-1, order-2, order-3',
    ])
  })
})
