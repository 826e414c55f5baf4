/** Duelog with a wall clock that steps. The test compares with the broker's append time of its records. */
import { expect, test } from 'vitest'
import { connectLog } from '../../src/log/kafka/log.ts'
import type { DuelogProcess } from '../tools/duelog-process.ts'
import { brokers, openSite } from './harness.ts'

const hourMs = 3_600_000
const [count, everyMs] = [40, 200]
/** Also the longest lead: whether commits are quick decides nothing here. */
const leadMs = 100

/** Reads a user's topic that stores the broker's time. */
async function watched(topic: string, onTestFinished: (task: () => Promise<unknown>) => void) {
  const log = connectLog({ brokers, clientId: 'faults' })
  const plan = { topic, schema: 'execution' as const, config: { 'message.timestamp.type': 'LogAppendTime' } }
  await log.ensureTopics({ plans: [plan], partitions: 1, replication: 1 })
  const seen: { jobId: string; earlyMs: number }[] = []
  const checks = new Set<() => void>()
  const reader = log.reader({
    groupId: `${topic}.seen`,
    topics: [topic],
    instance: 'faults',
    onAssigned: () => undefined,
    onBatch({ records }) {
      for (const { headers, timestampMs } of records) {
        const earlyMs = Number(headers['duelog-scheduled-for']?.toString()) - timestampMs
        seen.push({ jobId: String(headers['duelog-job-id']), earlyMs })
      }
      for (const check of checks) check()
    },
    onCrash: (error) => console.log(error),
  })
  onTestFinished(() => reader.stop())
  await reader.start()
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => void (holds() && resolve())
      checks.add(check)
      check()
    })
  return { seen, until }
}

const get = async (url: string, path: string): Promise<{ status: number; body: string }> => {
  const answer = await fetch(new URL(path, url))
  return { status: answer.status, body: await answer.text() }
}

/** Steps its clock. Resolves when its probe reports the step. */
async function stepped(system: DuelogProcess, url: string, byMs: number): Promise<void> {
  system.stepClock(byMs)
  await expect.poll(async () => (await get(url, '/readyz')).status).toBe(byMs === 0 ? 200 : 503)
}

test.for([hourMs, -hourMs])(
  'after a step of %i ms nothing is early, nothing is lost, and the process says what is wrong',
  async (byMs, context) => {
    const site = await openSite(context, { partitions: 2 })
    const topic = `x-${site.prefix}orders`
    const orders = await watched(topic, (task) => context.onTestFinished(task as () => Promise<void>))
    const settings = { DUELOG_TARGET_TOPICS: topic, DUELOG_LEAD_MS_MAX: String(leadMs) }
    const system = await site.system('scheduler,executor,retrier,api', 'machine', settings)
    const { url } = await system.next('system')
    const from = Date.now() + 2_000
    const target = { topic: { name: topic } }
    const orderOf = (index: number) => ({ id: `order-${index}`, schedule: { at: from + index * everyMs }, target })
    const runOf = (index: number) => ({
      id: `run-${index}`,
      schedule: { at: from + index * everyMs },
      target: { handler: 'noop' },
    })
    const indexes = Array.from({ length: count }, (_, index) => index)
    const ahead = [
      { id: 'order-ahead', schedule: { at: from + hourMs / 2 }, target },
      { id: 'run-ahead', schedule: { at: from + hourMs / 2 }, target: { handler: 'noop' } },
    ]
    await site.client.scheduleMany([...indexes.map(orderOf), ...indexes.map(runOf), ...ahead])
    await orders.until(() => orders.seen.length >= 5)
    await stepped(system, url, byMs)
    expect((await get(url, '/readyz')).body).toMatch(/clock/)
    expect((await get(url, '/v1/partitions')).body).toMatch(/DUELOG_CLOCK_STEP_MS_MAX=0 ends the comparison/)
    expect((await get(url, '/metrics')).body).toMatch(/^duelog_clock_trusted 0$/m)
    await stepped(system, url, 0)
    // A second step, for a moment only.
    system.stepClock(byMs)
    system.stepClock(0)
    const runs = () => new Set(site.checker.executions.map(({ jobId }) => jobId))
    await orders.until(() => orders.seen.length >= count)
    await site.checker.until(() => runs().size >= count)
    await site.checker.until(() => site.checker.events.filter(({ type }) => type === 'SUCCEEDED').length >= count)
    await system.stop()
    expect(orders.seen.map(({ jobId }) => jobId).sort()).toEqual(indexes.map((index) => `order-${index}`).sort())
    expect(orders.seen.filter(({ earlyMs }) => earlyMs > 0)).toEqual([])
    expect(runs().has('run-ahead')).toBe(false)
    expect(site.checker.executions.filter(({ dueAt, appendedAt }) => dueAt - appendedAt > leadMs)).toEqual([])
  },
)
