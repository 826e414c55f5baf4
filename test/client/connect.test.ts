/** What `import … from 'duelog'` gives, on the real broker. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import type { JobDefinition } from '../../schemas/generated.ts'
import { createClient, createWorker, NonRetryableError } from '../../src/clients/library/index.ts'
import { partitionOf } from '../../streams/topics/topics.ts'
import { openCluster, partitionCount } from '../executor/cluster.ts'
import { silent } from '../executor/harness.ts'
import { brokers, registryUrl, Watcher } from '../kafka/harness.ts'

it('schedules a bulk of jobs that any reader of the topic can decode, at the partition of Kafka’s own partitioner', async () => {
  const { prefix, names, codecs } = await openCluster()
  const client = createClient({ brokers, registryUrl, topicPrefix: prefix })
  onTestFinished(() => client.close())
  const result = await client.scheduleMany(
    Array.from({ length: 3_000 }, (_, index) => ({
      id: `job-${index}{tag-${index % 7}}`,
      schedule: { at: Date.now() + 3_600_000 + index },
      target: { handler: 'noop' },
      payload: { index },
    })),
  )
  expect(result).toEqual({ accepted: 3_000, rejected: 0, rejections: [] })
  const single = await client.schedule({
    id: 'nightly',
    schedule: { cron: '0 2 * * *', timezone: 'Europe/Paris' },
    target: { handler: 'log' },
  })
  const gone = await client.delete('nightly')
  expect(gone).toEqual({ partition: partitionOf('nightly', partitionCount), offset: single.offset + 1 })

  const watcher = new Watcher({ topics: [names.jobs], groupId: `${prefix}watch-jobs` })
  await watcher.reader.start()
  await watcher.until(() => watcher.records.length >= 3_002)
  for (const { key, partition, value } of watcher.records) {
    const id = String(key)
    expect(partition).toBe(partitionOf(id, partitionCount))
    if (!id.startsWith('job-')) continue
    const definition = codecs.definition.decode(value as Buffer) as JobDefinition
    expect(JSON.parse(String(definition.payload))).toEqual({ index: Number.parseInt(id.slice(4), 10) })
  }
})

it('runs a program’s own handlers, and the built-in ones', async () => {
  const cluster = await openCluster()
  const { events, until } = await cluster.watchEvents()
  const worker = createWorker({
    brokers: brokers.join(','),
    registryUrl,
    topicPrefix: cluster.prefix,
    logger: silent,
    concurrency: 5,
    handlers: {
      'send-report': async (run) => {
        run.heartbeat({ progress: 0.4, message: 'half way' })
        const { to } = run.payload as { to: string }
        if (to === '') throw new NonRetryableError('nobody to send it to')
        return { sentTo: to }
      },
    },
  })
  onTestFinished(() => worker.close())
  await worker.start()
  const payload = (value: unknown) => ({ payload: Buffer.from(JSON.stringify(value)), contentType: 'application/json' })
  await cluster.dispatch([
    cluster.record({ jobId: 'good', handler: 'send-report', ...payload({ to: 'a@example.org' }) }),
    cluster.record({ jobId: 'bad', handler: 'send-report', ...payload({ to: '' }) }),
    cluster.record({ jobId: 'built-in', handler: 'fail', ...payload({ times: 1 }) }),
  ])
  const ends = () => events.filter(({ type }) => type === 'SUCCEEDED' || type === 'FAILED')
  await until(() => ends().length === 3)
  const byJob = Object.fromEntries(ends().map((event) => [event.jobId, event]))
  expect(JSON.parse(String(byJob.good?.result))).toEqual({ sentTo: 'a@example.org' })
  expect(byJob.good?.worker).toMatch(/^worker@.+:\d+:[0-9a-z]+-[0-9a-f]+$/)
  expect(byJob.bad?.error).toMatchObject({ type: 'NonRetryableError', retryable: false })
  expect(byJob['built-in']?.error).toMatchObject({ type: 'Error', retryable: true })
  await worker.close()
  await worker.close()
})

it('says what is wrong when brokers or topics are missing', async () => {
  expect(() => createClient({ brokers: '' })).toThrow(/brokers is empty/)
  const withPassword = () => createClient({ brokers: 'b:9092', registryUrl: 'http://me:hidden@r:8081' })
  expect(withPassword).toThrow(/registryAuth/)
  expect(withPassword).not.toThrow(/hidden/)
  expect(() => createWorker({ brokers, registryUrl, name: 'gpu@1', handlers: {} })).toThrow(/name of the worker is "gpu@1"/)
  const worker = createWorker({ brokers, registryUrl, topicPrefix: 'no-such-prefix.', logger: silent, handlers: {} })
  await expect(worker.start()).rejects.toMatchObject({ code: 'unsafe-topic' })
  await worker.close()
})

it.each(['127.0.0.1', 'a:0', 'a:65536', 'a:b', 'http://a:1', 'a:1:2', '[::1]', 'me@a:1'])(
  'refuses the broker %s before it connects',
  (broker) => {
    expect(() => createClient({ brokers: ['b:9092', broker] })).toThrow(`brokers has ${JSON.stringify(broker)}; give host:port`)
  },
)

it.each(['foo', 'ftp://a', 'http://', '127.0.0.1:8081'])('refuses the registry %s before it connects', (registryUrl) => {
  expect(() => createClient({ brokers: '[::1]:9092', registryUrl })).toThrow(
    `registryUrl is ${JSON.stringify(registryUrl)}; give`,
  )
})

it('says to programs without a compiler which option is wrong', () => {
  const client = (options?: unknown) => () => createClient(options as Parameters<typeof createClient>[0])
  const worker = (options?: unknown) => () => createWorker(options as Parameters<typeof createWorker>[0])
  expect(client()).toThrow(/createClient needs an object of options/)
  expect(client({ brokers: 5 })).toThrow(/brokers must be text/)
  expect(client({ broker: 'a:1' })).toThrow(/no option "broker"; did you mean brokers\?/)
  expect(client({ brokers: 'a:1', zookeeper: 'a:1' })).toThrow(
    /no option "zookeeper"; known are url, token, ca, brokers, registryUrl/,
  )
  expect(worker({ brokers: 'a:1' })).toThrow(/handlers of createWorker is missing/)
  expect(worker({ brokers: 'a:1', handlers: { a: 5 } })).toThrow(/handler "a" is neither a function/)
  for (const name of ['noop', 'log', 'sleep', 'fail', 'http', 'kafka.produce'])
    expect(worker({ brokers: 'a:1', handlers: { [name]: () => 1 } })).toThrow(`handler "${name}" has the name of a built-in one`)
  expect(worker({ brokers: 'a:1', handlers: {}, concurency: 5 })).toThrow(/did you mean concurrency\?/)
  for (const [name, value] of [
    ['concurrency', 0],
    ['concurrency', '5'],
    ['drainMs', -1],
    ['clockStepMsMax', 1.5],
  ] as const)
    expect(worker({ brokers: 'a:1', handlers: {}, [name]: value })).toThrow(
      `${name} of createWorker is ${JSON.stringify(value)}; allowed: a whole number`,
    )
  expect(worker({ brokers: 'a:1', handlers: {}, pool: 7 })).toThrow(/pool of createWorker is 7/)
  const password = 'hidden-word'
  for (const [name, value] of [
    ['pool', 'A B'],
    ['pool', 'x'.repeat(65)],
    ['runLogs', 'no'],
    ['httpSigningKey', password],
    ['httpDeny', '10.0.0.0/8'],
    ['name', 5],
  ])
    expect(worker({ brokers: 'a:1', handlers: {}, [String(name)]: value })).toThrow(/; allowed: /)
  for (const [name, value] of [
    ['topicPrefix', 'a b'],
    ['topicPrefix', ''],
    ['clientId', 7],
    ['clientId', 'a\nb'],
    ['token', `${password}\n`],
    ['registryAuth', { user: 'a', password }],
    ['registryAuth', { token: password, tokenFile: 'f' }],
    ['registrySsl', { ca: 'a', cert: password }],
    ['registrySsl', { certFile: 'a' }],
    ['registrySsl', { ca: password, caFile: 'a' }],
    ['ca', '/etc/ca.pem'],
    ['sasl', { mechanism: 'plaintext', username: 'a', password }],
    ['sasl', { mechanism: 'plain', username: 'a' }],
    ['sasl', 'plain'],
    ['sasl', { mechanism: 'oauthbearer', tokenUrl: 'https://id', clientId: 'a' }],
    ['sasl', { mechanism: 'oauthbearer', tokenUrl: `https://a:${password}@id`, clientId: 'a', clientSecret: password }],
    ['sasl', { mechanism: 'aws-msk-iam' }],
    ['ssl', 'yes'],
    ['logger', console.log],
    ['logger', { warn: console.warn }],
  ] as const) {
    const made = client({ brokers: 'a:1', url: 'http://a', [name]: value })
    expect(made).toThrow(new RegExp(`^${name} of createClient .*; allowed: `))
    expect(made).not.toThrow(password)
  }
  for (const handler of ['a b', '', '-a', 'x'.repeat(129), 'é'])
    expect(worker({ brokers: 'a:1', handlers: { [handler]: () => {} } })).toThrow(/no job can name the handler/)
})

it('leaves nothing open when the start of a worker fails or is given up: a program that goes on ends', async () => {
  const { prefix } = await openCluster()
  const options = { brokers, registryUrl, topicPrefix: prefix, handlers: {} }
  const program = `
    import { createWorker } from ${JSON.stringify(new URL('../../src/clients/library/index.ts', import.meta.url).href)}
    const options = ${JSON.stringify(options)}
    await createWorker({ ...options, pool: 'without-topics' }).start().catch((error) => console.log(error.code))
    const givenUp = createWorker(options)
    const started = givenUp.start()
    await givenUp.close()
    await started
    console.log('closed')`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { timeout: 50_000 })
  const said = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  expect(said).toEqual(['unsafe-topic', 'closed'])
}, 60_000)
