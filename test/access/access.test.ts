/**
 * Each role on a broker with an authorizer: it works with exactly what its table says, by certificate (mTLS) and by token (OAUTHBEARER), and
 * what is missing is named.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type AccessRole, type AclEntry, accessOf, accessRoles } from '../../schemas/access.ts'
import { createClient } from '../../src/clients/library/create-client.ts'
import { createWorker } from '../../src/clients/library/create-worker.ts'
import { readConfig } from '../../src/ground/config/config.ts'
import { fetchWith } from '../../src/ground/network/index.ts'
import { connectLog } from '../../src/log/kafka/log.ts'
import { type System, startSystem } from '../../src/program/system/system.ts'
import type { Handler, Handlers } from '../../src/worker/executor/handlers/handler.ts'
import { topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { duelogHere } from '../cli/built-program.ts'
import { registryUrl, Watcher } from '../kafka/harness.ts'
import { newAuthority, type Signed } from '../tools/certificates.ts'
import {
  failingTarget,
  refusingDatabase,
  registryGate,
  Shown,
  ShownProcess,
  systemSecrets,
  useSystem,
  wrongSecrets,
  wrongSettings,
} from './leaks.ts'
import { faultsOf } from './needs.ts'
import { doOtherWork } from './other-work.ts'
import { anyAcl, password, SecuredBroker } from './secured-broker.ts'
import { bearerFrom, sasl, secretOf, signInsOf } from './sign-ins.ts'
import { everything, shortDemo } from './signed-in-demo.ts'
import { TokenServer } from './token-server.ts'
import { topicsCommandOn } from './topics-command.ts'

/** `system` is a process with several roles. */
const users = [...Object.keys(accessRoles), 'nobody', 'system'] as (AccessRole | 'nobody' | 'system')[]
const pools = ['default', 'own']
let folder: string
let broker: SecuredBroker
let provider: TokenServer
let caFile: string
let ca: string
const certificates = new Map<string, Signed>()
let signIns: ReturnType<typeof signInsOf>
let bearer: ReturnType<typeof bearerFrom>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-access-'))
  const authority = newAuthority(folder)
  ;({ caFile, ca } = authority)
  for (const user of users) certificates.set(user, authority.sign(user))
  provider = await TokenServer.start(Object.fromEntries(users.map((user) => [user, secretOf(user)])))
  broker = await SecuredBroker.start(folder, users, { authority, jwksUrl: `${provider.url}/jwks` })
  signIns = signInsOf({ broker, provider, caFile, certificates, folder })
  bearer = bearerFrom(provider)
}, 300_000)
afterAll(async () => {
  await broker?.stop()
  await provider?.stop()
  await rm(folder, { recursive: true, force: true })
})

let clusters = 0

/** A prefix of its own with its topics, made by the role setup with its table alone, and what each role is granted there. */
async function openSite() {
  const prefix = `a${++clusters}.`
  const names = topicNames(prefix)
  const [target, foreign] = [`${prefix}out-target`, `${prefix}in-foreign`].map((name) => name.replace('.', '-')) as [
    string,
    string,
  ]
  const own = connectLog({ brokers: broker.openBrokers, clientId: 'test' })
  await own.makeMissing([target, foreign], { partitions: 1, replication: 1 })
  const tableOf = (role: AccessRole): AclEntry[] =>
    accessOf(role, { prefix, targets: [target], foreign: [foreign], pools: ['own'] })
  for (const user of users) await broker.revoke(user)
  await broker.grant('setup', tableOf('setup'))
  await connectLog({ brokers: broker.brokers, clientId: 'setup', sasl: sasl('setup') }).ensureTopics({
    plans: topicPlans(names, pools),
    partitions: 1,
    replication: 1,
  })

  const start = async (role: AccessRole, more: { by?: keyof typeof signIns; handlers?: Handlers } = {}): Promise<System> => {
    const env = {
      ...(await signIns[more.by ?? 'password'](role)),
      SCHEMA_REGISTRY_URL: registryUrl,
      DUELOG_TOPIC_PREFIX: prefix,
      DUELOG_PARTITIONS: '1',
      DUELOG_REPLICATION: '1',
      DUELOG_POOLS: role === 'executor' ? 'default' : pools.join(','),
      DUELOG_TARGET_TOPICS: target,
      DUELOG_INTAKE_ETF1_TOPICS: role === 'intake' ? foreign : '',
      DUELOG_ROLES: role,
      DUELOG_HTTP_PORT: '0',
      DUELOG_DATA_DIR: await mkdtemp(join(folder, `${role}-`)),
    }
    const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
    const system = await startSystem({
      config: readConfig(given),
      logger: pino({ level: 'silent' }),
      ...(more.handlers && { handlers: more.handlers }),
      onFatal: () => {},
    })
    onTestFinished(() => system.stop())
    return system
  }
  return { prefix, names, target, foreign, own, tableOf, start }
}

const topicsCommand = topicsCommandOn(() => broker.openBrokers, pools)

const get = async (url: string): Promise<Record<string, unknown>> => (await (await fetch(url)).json()) as Record<string, unknown>

test('each role works with exactly what its table lists, and with nothing less', async () => {
  const { prefix, names, target, foreign, own, tableOf, start } = await openSite()
  const roles: AccessRole[] = ['scheduler', 'executor', 'retrier', 'intake', 'auditor', 'history', 'api', 'worker', 'client']
  // As an administrator does it: the command grants the tables.
  const apply = (...args: string[]) => topicsCommand(prefix, target, foreign, 'apply', ...args)
  expect((await apply(...roles.flatMap((role) => ['--acls', `${role}=User:${role}`]))).code).toBe(0)
  const tries: number[] = []
  const flaky: Handler = (run) => {
    tries.push(run.attempt)
    run.log('info', `try ${run.attempt}`)
    if (run.attempt === 1) throw new Error('once')
  }
  const [scheduler, ...others] = await Promise.all([
    start('scheduler', { by: 'certificate' }),
    start('executor', { by: 'certificate', handlers: { flaky } }),
    start('retrier', { by: 'token' }),
    start('intake', { by: 'certificate' }),
    start('auditor', { by: 'token' }),
    start('history', { by: 'token' }),
  ])
  const { url } = await start('api', { by: 'certificate' })
  await scheduler.ready()
  const put = async (id: string, body: object): Promise<unknown> => {
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return (await fetch(`${url}/v1/jobs/${id}?wait=applied`, init)).json()
  }
  const ended = (id: string) =>
    vi.waitUntil(async () => (await get(`${url}/v1/jobs/${id}`)).status === 'COMPLETED', { timeout: 60_000, interval: 200 })
  const now = { delayMs: 0 }
  const retry = { maxAttempts: 2, backoff: { list: [1_000] } }
  // A retry waits in a delay topic.
  expect(await put('flaky', { schedule: now, target: { handler: 'flaky' }, retry })).toMatchObject({
    applied: true,
    status: 'ACTIVE',
  })
  expect(await put('topic', { schedule: now, target: { topic: { name: target } } })).toMatchObject({ applied: true })
  const writer = await own.writer()
  onTestFinished(() => writer.close())
  const write = (topic: string, headers: Record<string, string>) =>
    writer.write([{ topic, partition: 0, key: 'foreign', value: Buffer.from('x'), headers }])
  await write(foreign, { 'scheduler-epoch': '1', 'scheduler-target-topic': target })
  const place = { registryUrl, topicPrefix: prefix }
  const did = Promise.withResolvers<void>()
  const mine: Handler = ({ log }) => {
    log('info', 'did it')
    did.resolve()
  }
  const worker = createWorker({ ...place, brokers: broker.oauthBrokers, sasl: bearer('worker'), pool: 'own', handlers: { mine } })
  onTestFinished(() => worker.close())
  await worker.start()
  const { cert, key } = certificates.get('client') as Signed
  const client = createClient({ ...place, brokers: broker.tlsBrokers, ssl: { ca, cert, key } })
  onTestFinished(() => client.close())
  await client.schedule({ id: 'mine', schedule: now, target: { handler: 'mine', pool: 'own' } })
  await did.promise
  for (const id of ['flaky', 'topic', 'foreign', 'mine']) await ended(id)
  expect(tries).toEqual([1, 2])
  // Written by the executor and by the worker, and read by the API.
  const textsOf = async (id: string) =>
    ((await get(`${url}/v1/jobs/${id}/runs/1/logs?from=1`)).lines as { text: string }[]).map(({ text }) => text)
  expect([await textsOf('flaky'), await textsOf('mine')]).toEqual([['try 1', 'try 2'], ['did it']])
  // The API has no history of its own, so it asks the process that has the role.
  const history = () => get(`${url}/v1/history?jobId=flaky`)
  await vi.waitUntil(async () => JSON.stringify(await history()).includes('flaky/1'), { timeout: 60_000, interval: 200 })
  expect((await get(`${url}/v1/audit`)).records).toEqual(
    expect.arrayContaining([expect.objectContaining({ action: 'PUT', jobId: 'topic' })]),
  )
  const configEntries = [{ name: 'max.message.bytes', value: '1000' }]
  await broker.admin.alterConfigs({ validateOnly: false, resources: [{ type: 2, name: names.runs, configEntries }] })
  const [auditor, setup] = await Promise.all([signIns.token('auditor'), signIns.password('setup')])
  await doOtherWork({
    ...{ url, others, prefix, target, foreign, write, setup: { ...setup, SCHEMA_REGISTRY_URL: registryUrl } },
    auditor: { ...auditor, SCHEMA_REGISTRY_URL: registryUrl },
  })
  // The broker was asked for all that the tables list, and for nothing else.
  const all: AccessRole[] = [...roles, 'setup']
  const faults = () => Object.fromEntries(all.map((role) => [role, faultsOf(tableOf(role), broker.demands(role))]))
  await expect.poll(faults).toEqual(Object.fromEntries(all.map((role) => [role, []])))
}, 300_000)

test('ACLs are planned, created once, and deleted only when told so', async () => {
  const { prefix, target, foreign } = await openSite()
  const acls = ['--acls', 'scheduler,retrier=User:scheduler', '--acls', 'client=User:client', '--json']
  const run = async (verb: 'plan' | 'apply', ...args: string[]) => {
    const { code, json, err } = await topicsCommand(prefix, target, foreign, verb, ...args)
    expect([code, err]).toEqual([0, ''])
    return json().filter((line) => line.principal !== undefined)
  }
  const actions = (lines: Record<string, unknown>[]) => [...new Set(lines.map(({ action }) => action))]
  const planned = await run('plan', ...acls)
  expect(actions(planned)).toEqual(['create'])
  expect(planned).toContainEqual({
    ...{ action: 'create', principal: 'User:client', resource: 'topic', name: `${prefix}jobs` },
    ...{ pattern: 'literal', operation: 'Write', host: '*' },
  })
  const count = planned.length
  expect(await run('plan', ...acls)).toEqual(planned)
  expect(await run('apply', ...acls)).toEqual(planned)
  // Neither a name of somebody else nor what the principal may do there is ours.
  await broker.grant('client', [
    { resource: 'topic', name: `${prefix}audit`, pattern: 'literal', operations: ['Read'], why: '' },
    { resource: 'topic', name: 'others', pattern: 'literal', operations: ['Read'], why: '' },
  ])
  const again = await run('apply', ...acls)
  expect(again.filter(({ action }) => action === 'keep').length).toBe(count)
  const surplus = again.filter(({ action }) => action !== 'keep')
  expect(surplus).toEqual([expect.objectContaining({ action: 'surplus', principal: 'User:client', name: `${prefix}audit` })])
  expect((await run('plan', ...acls)).length).toBe(count + 1)
  await run('apply', ...acls, '--delete-surplus-acls')
  expect(actions(await run('plan', ...acls))).toEqual(['keep'])
  const { resources } = await broker.admin.describeAcls({ ...anyAcl, principal: 'User:client' })
  expect(resources.map(({ resourceName }) => resourceName).sort()).toEqual(['others', `${prefix}jobs`].sort())
}, 120_000)

test.each([
  [['--acls', 'scheduler'], /roles and their principal/],
  [['--acls', 'scheduler=duelog'], /User:duelog/],
  [['--acls', 'master=User:duelog'], /Unknown role "master"/],
  [['--delete-surplus-acls'], /needs --acls/],
])(
  '%j is refused before anything is created',
  async (args, words) => {
    const { prefix, target, foreign } = await openSite()
    const { code, err } = await topicsCommand(`${prefix}new.`, target, foreign, 'apply', ...args)
    expect([code, err]).toEqual([2, expect.stringMatching(words)])
    expect((await broker.admin.listTopics()).filter((topic) => topic.startsWith(`${prefix}new.`))).toEqual([])
  },
  60_000,
)

test('a scheduler without the right to its transactional ids reports it in the phase of its partitions, and continues once it has the right', async () => {
  const { tableOf, start, prefix } = await openSite()
  const [ids, others] = [tableOf('scheduler').filter(isId), tableOf('scheduler').filter((entry) => !isId(entry))]
  await broker.grant('scheduler', others)
  const scheduler = await start('scheduler')
  const reason = await vi.waitUntil(
    async () => JSON.stringify(await get(`${scheduler.url}/readyz`)).match(/[^"]*TRANSACTIONAL_ID[^"]*/)?.[0],
    { timeout: 60_000, interval: 100 },
  )
  expect(reason).toContain(`Fencing the transactional id ${prefix}scheduler-0 failed: the brokers refuse it to User:scheduler`)
  expect(reason).toContain('Grant Write on the transactional id')
  await broker.grant('scheduler', ids)
  await scheduler.ready()
}, 90_000)

test('an intake without the right to its transactional ids reports it in its status, and continues once it has the right', async () => {
  const { tableOf, start, prefix, foreign } = await openSite()
  const [ids, others] = [tableOf('intake').filter(isId), tableOf('intake').filter((entry) => !isId(entry))]
  await broker.grant('intake', others)
  const { url } = await start('intake')
  const health = () => get(`${url}/readyz`)
  const reason = await vi.waitUntil(async () => JSON.stringify(await health()).match(/[^"]*TRANSACTIONAL_ID[^"]*/)?.[0], {
    timeout: 60_000,
    interval: 100,
  })
  expect(reason).toContain(`Foreign schedules of ${foreign}/0 cannot be taken: Fencing the transactional id ${prefix}intake-`)
  expect(reason).toContain('Grant Write on the transactional id')
  expect((await fetch(`${url}/readyz`)).status).toBe(503)
  await broker.grant('intake', ids)
  await vi.waitUntil(async () => (await fetch(`${url}/readyz`)).status === 200, { timeout: 60_000, interval: 100 })
}, 90_000)

const isId = ({ resource }: AclEntry): boolean => resource === 'transactional-id'

test.each([
  ['scheduler', 'group', /GROUP_AUTHORIZATION_FAILED.*Grant Read on the group/],
  ['executor', 'group', /GROUP_AUTHORIZATION_FAILED.*Grant Read on the group/],
  ['scheduler', 'topic', /TOPIC_AUTHORIZATION_FAILED.*Grant Describe/],
] as const)(
  '%s without any right to a %s does not start, and says why',
  async (role, resource, words) => {
    const { tableOf, start } = await openSite()
    await broker.grant(
      role,
      tableOf(role).filter((entry) => entry.resource !== resource),
    )
    const error = await start(role).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'kafka-denied', message: expect.stringMatching(words) })
    expect((error as Error).message).toContain(`User:${role}`)
  },
  90_000,
)

test('files of certificates are read again: the next connection shows the new one', async () => {
  const { names, tableOf } = await openSite()
  await broker.grant('client', tableOf('client'))
  const files = { caFile, certFile: join(folder, 'renewed.pem'), keyFile: join(folder, 'renewed.key') }
  const log = connectLog({ brokers: broker.tlsBrokers, clientId: 'test', ssl: files })
  const writeAs = async (user: string) => {
    const { cert, key } = certificates.get(user) as Signed
    await Promise.all([writeFile(files.certFile, cert), writeFile(files.keyFile, key)])
    const writer = await log.writer()
    onTestFinished(() => writer.close())
    return writer.write([{ topic: names.jobs, partition: 0, key: 'k', value: null }])
  }
  await expect(writeAs('nobody')).rejects.toMatchObject({ code: 'kafka-denied' })
  expect((await writeAs('client')).size).toBe(1)
}, 60_000)

test('a wrong password and an unknown mechanism name the settings', async () => {
  for (const wrong of [
    { ...sasl('nobody'), password: 'no' },
    { ...sasl('nobody'), mechanism: 'scram-sha-256' as const },
  ]) {
    const log = connectLog({ brokers: broker.brokers, clientId: 'test', sasl: wrong })
    await expect(log.admin().then((admin) => admin.clusterId())).rejects.toMatchObject({
      code: 'bad-config',
      message: expect.stringContaining('KAFKA_SASL_USERNAME'),
    })
  }
}, 30_000)

test('sessions that end are signed in to again, with a new token, while readers and transactions go on', async () => {
  const { names, tableOf, prefix } = await openSite()
  await broker.grant('scheduler', tableOf('scheduler'))
  provider.livesSeconds = 16
  onTestFinished(() => {
    provider.livesSeconds = 300
  })
  const log = connectLog({ brokers: broker.oauthBrokers, clientId: 'test', sasl: bearer('scheduler') })
  const writer = await log.transactionalWriter(`${prefix}scheduler-0`)
  onTestFinished(() => writer.close())
  const began = provider.issued
  const watcher = new Watcher({ topics: [names.jobs], groupId: `${prefix}exec.own` }, log)
  await watcher.reader.start()
  let written = 0
  // Four tokens: the first one, and three for sessions that end.
  while (provider.issued < began + 4) {
    await writer.commit([{ topic: names.jobs, partition: 0, key: `k${written}`, value: Buffer.from(String(written)) }])
    written++
    await watcher.until(() => watcher.records.length === written)
  }
  expect(watcher.values).toEqual(Array.from({ length: written }, (_, index) => String(index)))
  expect(watcher.crashes).toEqual([])
}, 60_000)

test('a token that the broker refuses, and one that the provider refuses, are named without the secret', async () => {
  const wrongs = [
    [{ parameters: { audience: 'others' } }, 'bad-config', /The broker 127\.0\.0\.1:\d+ refuses the token \(.*invalid_token/],
    [{ clientSecret: 'hidden too' }, 'bad-config', /\/token answered 401 \(invalid_client/],
    // Without AWS the wiring ends here: the token of the real signer reaches the broker, which does not know its form.
    [{ mechanism: 'aws-msk-iam', region: 'eu-central-1' }, 'bad-config', /The broker .* refuses the token/],
  ] as const
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hidden key')
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const [wrong, code, words] of wrongs) {
    const sasl = 'region' in wrong ? wrong : { ...bearer('nobody'), ...wrong }
    const log = connectLog({ brokers: broker.oauthBrokers, clientId: 'test', sasl })
    const error = await log
      .admin()
      .then((admin) => admin.clusterId())
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, message: expect.stringMatching(words) })
    expect((error as Error).message).not.toContain('hidden')
  }
}, 60_000)

test('a provider that fails for a while delays a sign-in, and nothing more', async () => {
  provider.answer = { status: 503, body: '' }
  onTestFinished(() => {
    provider.answer = undefined
  })
  const asked = provider.requests
  const opened = connectLog({ brokers: broker.oauthBrokers, clientId: 'test', sasl: bearer('nobody') }).admin()
  // More than once: the broker takes no second handshake on one connection.
  await vi.waitUntil(() => provider.requests >= asked + 2, { timeout: 60_000, interval: 50 })
  provider.answer = undefined
  const admin = await opened
  onTestFinished(() => admin.close())
  expect(await admin.clusterId()).toMatch(/./)
}, 60_000)

test('the demo signs in to brokers and registry with all its clients', async () => {
  const { prefix } = await openSite()
  await broker.grant('system', everything)
  const token = systemSecrets.registryToken
  const registry = await registryGate(registryUrl, token)
  onTestFinished(() => registry.stop())
  const settings = { SCHEMA_REGISTRY_URL: registry.url, SCHEMA_REGISTRY_TOKEN: token, DUELOG_TOPIC_PREFIX: prefix }
  const { outcome, written } = await shortDemo({ ...(await signIns.certificate('system')), ...settings })
  expect(outcome, written).toBe('proved')
})

test('a running system shows no secret: in lines, arguments, titles, metrics, and answers to viewers', async () => {
  const { prefix, target, foreign } = await openSite()
  for (const role of ['scheduler', 'executor', 'retrier', 'api', 'history'] as const)
    await broker.grant('system', accessOf(role, { prefix, targets: [target], foreign: [foreign], pools: ['default'] }))
  const authority = newAuthority(folder, 'https')
  const own = authority.sign('server')
  const secrets = { password, ...systemSecrets, httpsKey: own.key }
  const [registry, hook, database] = await Promise.all([
    registryGate(registryUrl, secrets.registryToken),
    failingTarget(),
    refusingDatabase(),
  ])
  for (const part of [registry, hook, database]) onTestFinished(() => part.stop())
  const shown = new Shown()
  const duelog = new ShownProcess(
    'duelog',
    {
      ...(await signIns.password('system')),
      ...{ SCHEMA_REGISTRY_URL: registry.url, SCHEMA_REGISTRY_TOKEN: secrets.registryToken },
      ...{ DUELOG_TOPIC_PREFIX: prefix, DUELOG_PARTITIONS: '1', DUELOG_REPLICATION: '1', DUELOG_HTTP_PORT: '0' },
      ...{ DUELOG_ROLES: 'scheduler,executor,retrier,api,history', DUELOG_EXECUTOR_PROCESSES: '1' },
      ...{
        DUELOG_API_TOKENS: `admin:${secrets.admin},viewer.bob:${secrets.viewer}`,
        DUELOG_HTTP_SIGNING_KEY: secrets.signingKey,
      },
      ...{ DUELOG_HTTPS_CERT_FILE: own.certFile, DUELOG_HTTPS_KEY_FILE: own.keyFile, DUELOG_HTTPS_CA_FILE: authority.caFile },
      DUELOG_HISTORY_URL: `postgres://duelog:${encodeURIComponent(secrets.database)}@${database.address}/history`,
      ...{ DUELOG_HTTP_ALLOW: '127.0.0.1', DUELOG_LOG_LEVEL: 'debug', DUELOG_DATA_DIR: await mkdtemp(join(folder, 'leaks-')) },
    },
    shown,
  )
  onTestFinished(() => duelog.stop())
  const { url } = await duelog.line('system-ready')
  const request = fetchWith({ ca: authority.ca })
  await useSystem(duelog, shown, hook.url, async (path, token, body) => {
    const init = body && { method: 'PUT', body: JSON.stringify(body) }
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    return (await request(`${url}${path}`, { ...init, headers })).text()
  })
  expect(duelog.lookAtProcesses()).toBeGreaterThanOrEqual(2) // The executor process too.
  await duelog.stop()
  expect(shown.leaks({ proof: '"event":"history-not-written"' })).toEqual(['lines of duelog: proof'])
  expect(shown.leaks(secrets)).toEqual([])
}, 120_000)

test('what fails for a secret is named without it: passwords, tokens and keys that brokers and registries refuse', async () => {
  const stranger = newAuthority(folder, 'stranger').sign('system')
  const secrets = { ...wrongSecrets, key: stranger.key }
  const registry = await registryGate(registryUrl, 'another token')
  onTestFinished(() => registry.stop())
  const right = { ...(await signIns.password('setup')), SCHEMA_REGISTRY_URL: registryUrl }
  const wrongs = wrongSettings({
    ...{ registryUrl, right, stranger, gateUrl: registry.url, openBrokers: broker.openBrokers.join(',') },
    ...{ token: await signIns.token('setup'), certificate: await signIns.certificate('setup') },
  })
  const shown = new Shown()
  const own = {
    ...{ DUELOG_TOPIC_PREFIX: 'leaks.', DUELOG_PARTITIONS: '1', DUELOG_REPLICATION: '1' },
    ...{ DUELOG_HTTP_PORT: '0', DUELOG_ROLES: 'api', DUELOG_LOG_LEVEL: 'debug' },
  }
  for (const [name, wrong] of Object.entries(wrongs)) {
    const given = Object.entries({ ...wrong, ...own, DUELOG_DATA_DIR: await mkdtemp(join(folder, 'refused-')) })
    const env = Object.fromEntries(given.filter(([, value]) => value !== ''))
    for (const command of [['up'], ['topics', 'plan', '--debug']]) {
      const { out, err, code } = await duelogHere(command, { env })
      shown.add(`${name} ${command[0]}`, `${out}${err}`)
      if (command[0] === 'up') expect({ name, code }).not.toEqual({ name, code: 0 })
    }
  }
  const env = { DUELOG_URL: 'http://127.0.0.1:1', DUELOG_TOKEN: secrets.token }
  shown.add('jobs list', (await duelogHere(['jobs', 'list', '--debug'], { env })).err)
  // The alert of the broker, and what to do.
  expect(shown.of('key up')).toMatch(
    /the broker 127\.0\.0\.1:\d+ refuses the client certificate.*\(certificate unknown\)\. Set KAFKA_SSL_CERT_FILE/,
  )
  const named = Object.keys(wrongs).map((name) => [
    name,
    /(KAFKA_SASL|KAFKA_SSL|SCHEMA_REGISTRY|DUELOG_[A-Z]+)_\w+/.exec(shown.of(`${name} up`))?.[0],
  ])
  expect(Object.fromEntries(named)).toEqual({
    password: 'KAFKA_SASL_MECHANISM',
    registry: 'SCHEMA_REGISTRY_USERNAME',
    client: 'KAFKA_SASL_OAUTHBEARER_TOKEN_URL',
    key: 'KAFKA_SSL_CERT_FILE',
    tokens: 'DUELOG_API_TOKENS',
    signing: 'DUELOG_HTTP_SIGNING_KEY',
    history: 'DUELOG_HISTORY_URL',
    address: 'SCHEMA_REGISTRY_URL',
  })
  expect(shown.leaks(secrets)).toEqual([])
}, 120_000)
