/** Work for the rights that a job, its retry and its result leave unused: what the API, an intake and the commands do besides. */
import { expect, vi } from 'vitest'
import { replyHeaders } from '../../streams/jobs/receipt.ts'
import { duelogHere } from '../cli/built-program.ts'

interface Place {
  /** Of the API. */
  url: string
  /** The other processes. */
  others: readonly { url: string }[]
  prefix: string
  target: string
  foreign: string
  /** Appends a record as an administrator. */
  write(topic: string, headers: Record<string, string>): Promise<unknown>
  /** Settings by which these roles sign in. */
  auditor: Record<string, string>
  setup: Record<string, string>
}

export async function doOtherWork({ url, others, prefix, target, foreign, write, auditor, setup }: Place): Promise<void> {
  const send = async (method: string, path: string, body: object): Promise<void> => {
    const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const answer = await fetch(`${url}/v1/${path}`, init)
    expect({ path, status: answer.status, text: answer.ok ? '' : await answer.text() }).toMatchObject({ path, text: '' })
  }
  // A worker writes to a topic, a command goes to one job, and another one to several.
  const payload = { topic: target, value: 'x' }
  await send('PUT', 'jobs/produce?wait=applied', { schedule: { delayMs: 0 }, target: { handler: 'kafka.produce' }, payload })
  await send('POST', 'jobs/produce/trigger?wait=ended', {})
  await send('POST', 'operations', { action: 'TRIGGER', filter: { idPrefix: 'produce' } })
  // An owner requests a follow-up, and announces that a run is cancelled.
  const after = { schedule: { at: '2099-01-01T00:00:00Z' }, target: { handler: 'noop' } }
  await send('PUT', 'jobs/after?wait=applied', after)
  await send('PUT', 'jobs/first?wait=applied', { ...after, schedule: { delayMs: 0 }, onSuccess: ['after'] })
  await send('PUT', 'jobs/long?wait=applied', { schedule: { delayMs: 0 }, target: { handler: 'sleep' }, payload: { ms: 60_000 } })
  const isRunning = async (): Promise<boolean> => (await (await fetch(`${url}/v1/runs/long/1`)).text()).includes('RUNNING')
  await vi.waitUntil(isRunning, { timeout: 60_000, interval: 100 })
  await send('POST', 'runs/long/1/cancel', {})
  // Somebody who is no process of this system asks each process for a change.
  const wrong = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  for (const other of others) await fetch(`${other.url}/internal/v1/change`, wrong)
  await send('POST', 'pools/own/pause', {})
  await send('POST', 'pools/own/resume', {})
  // Its receipt says why the schedule is refused.
  await write(foreign, { 'scheduler-epoch': 'never', 'scheduler-target-topic': target, [replyHeaders.topic]: target })
  const place = { DUELOG_TOPIC_PREFIX: prefix }
  const audit = await duelogHere(['audit', '--target-topics', target], { env: { ...auditor, ...place } })
  expect(audit.err).not.toContain('refuse')
  // One topic is unsafe, so that its setting is raised.
  const apply = ['topics', 'apply', '--replication', '1', '--partitions', '1']
  expect(await duelogHere(apply, { env: { ...setup, ...place, DUELOG_POOLS: 'default,own' } })).toMatchObject({
    code: 0,
    err: '',
  })
}
