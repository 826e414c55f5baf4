/** Lines of runs while workers die, strangers write to the topic, and handlers write without end. */
import { Kafka, logLevel } from 'kafkajs'
import { describe, expect, type TestContext, test } from 'vitest'
import type { Handler, RunLine } from '../../src/clients/library/index.ts'
import { createClient, createWorker } from '../../src/clients/library/index.ts'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { partitionOf, topicPlans } from '../../streams/topics/topics.ts'
import { silent } from '../executor/harness.ts'
import { openLog } from '../kafka/harness.ts'
import { openSite, type Site } from './harness.ts'

const patience = { timeout: 60_000 }

async function clientOf({ onTestFinished }: TestContext, site: Site) {
  const { url } = await site.here('scheduler,retrier,api', 'owner')
  const client = createClient({ url })
  onTestFinished(() => client.close())
  const linesOf = async (id: string, runNo = 1): Promise<RunLine[]> => {
    const found: RunLine[] = []
    for await (const line of client.logs(id, runNo)) found.push(line)
    return found
  }
  const textsOf = async (id: string) => (await linesOf(id)).map(({ text }) => text)
  return { client, linesOf, textsOf, url }
}

async function workerOf({ onTestFinished }: TestContext, site: Site, handlers: Record<string, Handler>): Promise<void> {
  const { brokers, registryUrl, prefix: topicPrefix } = site.plan
  const worker = createWorker({ brokers, registryUrl, topicPrefix, handlers, logger: silent })
  onTestFinished(() => worker.close())
  await worker.start()
}

describe.concurrent('lines of a run', () => {
  test('survive the kill −9 of their worker, and those of the next attempt follow them', async (context) => {
    const site = await openSite(context)
    const { client, linesOf, textsOf } = await clientOf(context, site)
    const victim = await site.system('executor', 'victim')
    await client.schedule(
      { id: 'told', schedule: { delayMs: 0 }, target: { handler: 'telling' }, leaseMs: 2_000 },
      { wait: 'applied' },
    )
    await context.expect.poll(() => textsOf('told').catch(() => []), patience).toEqual(['attempt 1 begins'])
    await victim.kill()
    await site.system('executor', 'successor')
    const { status } = await client.awaitRun('told', { runNo: 1 }, { timeoutMs: 40_000 })
    expect(status).toBe('SUCCEEDED')
    // The report of the end waits for its lines, but no longer than 500 ms. A busy broker may take longer.
    const told = async () => (await linesOf('told')).map(({ attempt, no, level, text }) => [attempt, no, level, text])
    await context.expect.poll(told, patience).toEqual([
      [1, 1, 'info', 'attempt 1 begins'],
      [2, 1, 'info', 'attempt 2 begins'],
      [2, 2, 'warn', 'attempt 2 ends'],
    ])
    const lines = await linesOf('told')
    expect(new Set(lines.map(({ worker }) => worker)).size).toBe(2)
    expect(lines[0]?.fields).toEqual({ pid: victim.pid })
  })

  test('are read past garbage, records of other schemas and tombstones on the topic', async (context) => {
    const site = await openSite(context)
    const { client, textsOf, url } = await clientOf(context, site)
    const { definition } = await createCodecs({ registryUrl: site.plan.registryUrl, plans: topicPlans(site.names, ['default']) })
    const foreign = definition.encode({ schedule: { at: 5 }, target: { handler: 'noop' } })
    const writer = await openLog().writer()
    context.onTestFinished(() => writer.close())
    const litter = async (): Promise<void> => {
      const values = [
        Buffer.from('garbage'),
        Buffer.alloc(0),
        null,
        Buffer.from([0, 0, 0, 255, 255, 1]),
        foreign,
        Buffer.alloc(500_000, 1),
      ]
      const record = { topic: site.names.runLogs, partition: partitionOf('a', site.plan.partitions), key: 'a' }
      await writer.write(values.map((value) => ({ ...record, value })))
    }
    const go = Promise.withResolvers<void>()
    await workerOf(context, site, {
      mail: async ({ log }) => {
        await litter()
        log('info', 'one')
        await go.promise
        log('info', 'two')
        await litter()
      },
    })
    await client.schedule({ id: 'a', schedule: { delayMs: 0 }, target: { handler: 'mail' } }, { wait: 'applied' })
    await context.expect.poll(() => textsOf('a').catch(() => []), patience).toEqual(['one'])
    go.resolve()
    await client.awaitRun('a', { runNo: 1 }, { timeoutMs: 30_000 })
    expect(await textsOf('a')).toEqual(['one', 'two'])
    const answer = await (await fetch(`${url}/v1/jobs/a/runs/1/logs`)).json()
    expect(answer).toMatchObject({ unreadable: 10, caughtUp: true, cursor: null })
  })

  test('are bounded in number and bytes, whatever handlers write; each answer is bounded too, and all lines are found', async (context) => {
    const site = await openSite(context, { partitions: 1 })
    const { client, linesOf } = await clientOf(context, site)
    const wide = 'w'.repeat(20_000)
    await workerOf(context, site, {
      flood: async ({ log, jobId }) => {
        for (let no = 0; no < 20_000; no++) log('info', `${no} of ${jobId} ${wide}`, { wide, no })
      },
      few: async ({ log }) => log('error', 'found'),
    })
    const ids = Array.from({ length: 60 }, (_, index) => `flood-${index}`)
    const jobs = [{ id: 'first', handler: 'few' }, ...ids.map((id) => ({ id, handler: 'flood' }))]
    await client.scheduleMany(jobs.map(({ id, handler }) => ({ id, schedule: { delayMs: 0 }, target: { handler } })))
    for (const { id } of jobs) expect((await client.awaitRun(id, { runNo: 1 }, { timeoutMs: 40_000 })).status).toBe('SUCCEEDED')
    await client.schedule({ id: 'last', schedule: { delayMs: 0 }, target: { handler: 'few' } }, { wait: 'applied' })
    await client.awaitRun('last', { runNo: 1 }, { timeoutMs: 30_000 })
    for (const id of ['first', 'last']) expect((await linesOf(id)).map(({ text }) => text)).toEqual(['found'])
    const counts = new Set<number>()
    for (const id of ids.slice(0, 5)) {
      const lines = await linesOf(id)
      const said = lines.filter(({ text }) => text.includes('lines were left out'))
      const leftOut = said.reduce((sum, { fields }) => sum + Number(fields?.leftOut), 0)
      // The loop may last several seconds on a busy machine.
      expect(lines.length - said.length).toBeLessThanOrEqual(1_000)
      expect(leftOut + lines.length - said.length).toBe(20_000)
      for (const { text } of lines) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_096)
      counts.add(lines.length)
    }
    expect(Math.max(...counts)).toBeGreaterThan(1)
  })
  test('a cluster whose topic is missing runs all the same, and lines of no run are found', async (context) => {
    const site = await openSite(context)
    const { client, url } = await clientOf(context, site)
    const admin = new Kafka({ brokers: site.plan.brokers, logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    await admin.deleteTopics({ topics: [site.names.runLogs] })
    await admin.disconnect()
    await workerOf(context, site, { mail: async ({ log }) => log('info', 'lost') })
    for (const id of ['a', 'b', 'c']) {
      await client.schedule({ id, schedule: { delayMs: 0 }, target: { handler: 'mail' } }, { wait: 'applied' })
      expect((await client.awaitRun(id, { runNo: 1 }, { timeoutMs: 30_000 })).status).toBe('SUCCEEDED')
    }
    const answer = await fetch(`${url}/v1/jobs/a/runs/1/logs`)
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'unsafe-topic' }])
  })
})
