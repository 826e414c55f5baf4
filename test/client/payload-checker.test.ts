/** Payloads that schemas refuse before the jobs leave the process, over HTTP and over Kafka. */
import { expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { KafkaClient } from '../../src/clients/client/client.ts'
import type { Job } from '../../src/clients/client/job.ts'
import { createKafkaClient } from '../../src/clients/client/kafka-client.ts'
import type { Rejection } from '../../src/clients/client/options.ts'
import { PayloadChecker } from '../../src/clients/client/payload-checker.ts'
import { createClient, type PayloadsOf } from '../../src/clients/library/client.ts'
import { codecs, createSystem } from '../api/system-in-memory.ts'
import { LoopbackLog } from '../tools/loopback-log.ts'

const schemas = { mail: z.object({ to: z.email(), at: z.coerce.date().optional() }) }
const job = (id: string, payload?: unknown, more: Partial<Job> = {}): Job => ({
  ...{ id, schedule: { delayMs: 5 }, target: { handler: 'mail' }, ...(payload !== undefined && { payload }) },
  ...more,
})
const good = { to: 'a@example.org' }

/** The same client over both ways, with the number of jobs that were written. */
async function ways() {
  const system = createSystem({ partitions: 1 })
  const url = await system.api.listen('127.0.0.1', 0)
  const http = createClient({ url, schemas })
  const log = new LoopbackLog(1)
  const { definition } = codecs
  const kafka = createKafkaClient(async () => {
    return { writer: await log.writer(), definition, topic: 'jobs', partitions: 1, checker: new PayloadChecker(schemas) }
  })
  const close = async () => {
    await http.close()
    await kafka.close()
    await system.api.stop()
  }
  return {
    close,
    each: [
      { client: http as Pick<KafkaClient, 'schedule' | 'scheduleMany'>, written: () => system.owner.jobs.size },
      { client: kafka, written: () => log.records('jobs').length },
    ] as const,
  }
}

it('a payload that does not match is refused with the field, and nothing is written', async () => {
  const { each, close } = await ways()
  for (const { client, written } of each) {
    await expect(client.schedule(job('a', { to: 'nobody' }))).rejects.toMatchObject({
      code: 'bad-definition',
      message: expect.stringMatching(/^The payload of job "a" does not match the schema of the handler "mail": to: /),
    })
    await expect(client.schedule(job('a'))).rejects.toMatchObject({ code: 'bad-definition' })
    expect(written()).toBe(0)
    await client.schedule(job('a', good))
    // As the handler reads it: a date is text there.
    await client.schedule(job('b', { ...good, at: new Date(0) }))
    expect(written()).toBe(2)
  }
  await close()
})

it('other handlers, other targets, bytes and other content types are not checked', async () => {
  const { each, close } = await ways()
  for (const { client, written } of each) {
    await client.schedule(job('a', 5, { target: { handler: 'toString' } }))
    await client.schedule(job('b', 5, { target: { http: { url: 'https://example.org' } } }))
    await client.schedule(job('c', undefined, { payloadBase64: 'AA==' }))
    await client.schedule(job('d', 'text', { contentType: 'text/plain' }))
    expect(written()).toBe(4)
  }
  await close()
})

it('of a bulk, each refused job has its index, whoever refuses it', async () => {
  const { each, close } = await ways()
  for (const { client, written } of each) {
    const jobs = Array.from({ length: 300 }, (_, index) => {
      if (index % 7 === 3) return job(`job-${index}`, { to: 'nobody' })
      return job(`job-${index}`, good, index % 11 === 5 ? { leaseMs: -1 } : {})
    })
    const seen: Rejection[] = []
    const made = await client.scheduleMany(jobs, { onRejected: (rejection) => seen.push(rejection) })
    const wrong = jobs.flatMap(({ leaseMs, payload }, index) => (leaseMs === -1 || payload !== good ? [index] : []))
    expect(seen.map(({ index }) => index).sort((a, b) => a - b)).toEqual(wrong)
    for (const { index, id } of seen) expect(id).toBe(`job-${index}`)
    expect(made).toMatchObject({ accepted: 300 - wrong.length, rejected: wrong.length })
    expect([made.rejections.length, written()]).toEqual([wrong.length, 300 - wrong.length])
  }
  await close()
})

it('payload types come from the schemas', () => {
  const typed = () => createClient<PayloadsOf<typeof schemas>>({ url: 'http://a:1', schemas })
  expectTypeOf(typed().schedule).parameter(0).toExtend<object>()
  // @ts-expect-error: the payload has no `to`
  void (() => typed().schedule({ id: 'a', schedule: { delayMs: 1 }, target: { handler: 'mail' }, payload: {} }))
  expect(() => createClient({ url: 'http://a:1', schemas: { mail: {} as never } })).toThrow(/handler "mail".*Standard Schema/)
})
