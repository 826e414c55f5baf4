/** A program of a user's, as the test of the package compiles it. What must not compile says so. */
import { createClient as createAnyClient, createWorker as createAnyWorker, DuelogError, type Run } from 'duelog'
import { createClient, type Job, type JobFor } from 'duelog/client'
import { fakeRun, testSystem } from 'duelog/testing'
import { createWorker, type HandlersFor } from 'duelog/worker'

interface Payloads {
  'send-report': { to: string }
  tick: undefined
}

const schedule = { cron: '0 9 * * MON-FRI', timezone: 'Europe/Paris' }

export async function scheduling(): Promise<void> {
  const client = createClient<Payloads>({ brokers: 'broker-1:9092' })
  await client.schedule({ id: 'a', schedule, target: { handler: 'send-report' }, payload: { to: 'a@example.org' } })
  await client.schedule({ id: 'b', schedule, target: { handler: 'tick', pool: 'clocks' } })
  await client.schedule({ id: 'c', schedule, target: { topic: { name: 'orders' } }, payload: 5 })
  await client.scheduleMany([{ id: 'd', schedule, target: { handler: 'tick' } }])
  await client.schedule({
    id: 'e',
    schedule,
    target: { handler: 'send-report' },
    // @ts-expect-error: the payload of another handler
    payload: { from: 'a@example.org' },
  })
  // @ts-expect-error: no such field of the target, which is not inferred from what is wrong
  await client.schedule({ id: 'e', schedule, target: { handler: 'tick', pol: 'clocks' } })
  const forAny = (job: JobFor<Payloads>) => client.schedule(job)
  await forAny({ id: 'e', schedule, target: { handler: 'tick' } })
  // @ts-expect-error: no payload
  await client.schedule({ id: 'f', schedule, target: { handler: 'send-report' } })
  // @ts-expect-error: no such handler
  await client.schedule({ id: 'g', schedule, target: { handler: 'send-rapport' } })
  const known = { id: 'h', schedule, target: { handler: 'tick' } } as const
  const misspelt = { id: 'i', schedule, target: { handler: 'send-report' } } as const
  // @ts-expect-error: the payload of another handler, beside a job that is right
  await client.scheduleMany([known, { ...misspelt, payload: { from: 'a@example.org' } }])
  await client.scheduleMany([
    known,
    {
      id: 'i',
      schedule,
      target: { handler: 'send-report' },
      // @ts-expect-error: the same in a literal is said of the field
      payload: { from: 'a@example.org' },
    },
  ])
  const listed: JobFor<Payloads>[] = [known]
  await client.scheduleMany(new Set(listed))
  await client.close()
}

export function working(): void {
  createWorker<Payloads>({
    brokers: ['broker-1:9092'],
    handlers: {
      'send-report': (run) => run.payload.to.length,
      tick: { batch: { maxSize: 100, maxWaitMs: 50 }, run: (runs) => runs.map(({ attempt }) => ({ result: attempt })) },
    },
  })
  // @ts-expect-error: a handler is missing
  createWorker<Payloads>({ brokers: 'broker-1:9092', handlers: { tick: () => {} } })
  createWorker<Payloads>({
    brokers: 'broker-1:9092',
    // @ts-expect-error: the payload has no such field
    handlers: { 'send-report': ({ payload }) => payload.from, tick: () => {} },
  })
}

/** Without a map of payloads everything goes, and payloads are unknown. */
export async function untyped(): Promise<void> {
  const job: Job = { id: 'h', schedule: { everyMs: 1_000 }, target: { handler: 'any' }, payload: [1] }
  const client = createAnyClient({ brokers: 'broker-1:9092' })
  await client.schedule(job).catch((error: unknown) => error instanceof DuelogError && error.retriable)
  const worker = createAnyWorker({
    brokers: 'broker-1:9092',
    handlers: {
      any: async (run) => {
        run.heartbeat({ progress: 0.4, message: 'half way' })
        const payload: unknown = run.payload
        return { payload, aborted: run.signal.aborted }
      },
      typed: (run: Run<{ to: string }>) => run.payload.to,
    },
  })
  await worker.start()
  await worker.close()
}

/** A setting that may be absent is given as it is, also with exactOptionalPropertyTypes, which `tsc --init` writes. */
export async function fromEnvironment(given: { text: string | undefined; ms: number | undefined }): Promise<void> {
  const { text, ms } = given
  createWorker({ brokers: 'broker-1:9092', registryUrl: text, pool: text, httpSigningKey: text, drainMs: ms, handlers: {} })
  const client = createClient<Payloads>({ url: 'http://127.0.0.1:8080', token: text })
  const job = { id: 'a', target: { handler: 'tick', pool: text }, pinTo: text, maxRuns: ms } as const
  await client.schedule({ ...job, schedule: { cron: '@daily', timezone: text } }, { ifMatch: text }).result({ timeoutMs: ms })
  await client.preview({ cron: '@daily' }, { from: text, count: ms })
  client.list({ tag: text, idPrefix: text })
  testSystem({ handlers: {}, now: text, seed: ms })
}

/** Handlers that are declared by name are called by name. */
export async function called(): Promise<number> {
  const handlers = { 'send-report': ({ payload }) => payload.to.length, tick: () => {} } satisfies HandlersFor<Payloads>
  createWorker<Payloads>({ brokers: 'broker-1:9092', handlers })
  return handlers['send-report'](fakeRun({ to: 'a@example.org' }))
}

export async function testing(): Promise<void> {
  const handlers = { 'send-report': (run: Run<{ to: string }>) => run.payload.to, tick: () => {} }
  const duelog = testSystem<Payloads>({ handlers, zone: 'Europe/Paris' })
  await duelog.schedule({ id: 'a', schedule, target: { handler: 'send-report' }, payload: { to: 'a@example.org' } })
  // @ts-expect-error: the payload of another handler
  await duelog.schedule({ id: 'b', schedule, target: { handler: 'send-report' }, payload: 5 })
  await duelog.advanceTo('2027-03-28T03:00+02:00')
  const to: string = handlers['send-report'](fakeRun({ to: 'a@example.org' }))
  const untyped = testSystem({ handlers: (system) => ({ ...handlers, wait: () => system.sleep(1_000) }) })
  await untyped.schedule({ id: to, schedule, target: { handler: 'any' } })
}
