/** The result of commands: carried out once, or refused with the reason. */
import { expect, test } from 'vitest'
import type { JobCommandInput } from '../../schemas/generated.ts'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { partitionOf, topicPlans } from '../../streams/topics/topics.ts'
import { openWriter, registryUrl } from '../kafka/harness.ts'
import { every, openDuelog } from './harness.ts'

const duelog = await openDuelog()
const { command } = await createCodecs({ registryUrl, plans: topicPlans(duelog.names, ['default', 'reports']) })

/** Sends the command as any program does. */
const send = async (id: string, value: JobCommandInput): Promise<void> => {
  const writer = await openWriter()
  await writer.write([{ topic: duelog.names.commands, partition: partitionOf(id, 2), key: id, value: command.encode(value) }])
}

test('a run that would expire at once is refused with 409, and why shows it', async () => {
  await duelog.put('over', { schedule: { cron: '@yearly' }, expireAt: Date.now() - 1_000 })
  const answer = await duelog.ask('POST', '/v1/jobs/over/trigger')
  expect(answer).toMatchObject({ status: 409, body: { code: 'command-refused', detail: expect.stringMatching(/expireAt/) } })
  expect((await duelog.why('over')).find(({ code }) => code === 'expired')?.text).toMatch(/^A command was dropped/)
  expect((await duelog.job('over')).runNo).toBe(0)
})

test('a backfill that finds nothing is refused with 409', async () => {
  await duelog.put('ahead', { ...every(60_000), startAt: Date.now() + 3_600_000 })
  const [from, to] = [Date.now() - 120_000, Date.now() - 60_000]
  expect(await duelog.ask('POST', '/v1/jobs/ahead/backfill', { from, to })).toMatchObject({
    ...{ status: 409, body: { detail: expect.stringMatching(/the range has no occurrence/) } },
  })
})

test('a repeated backfill runs once, also with an owner that took over in between', async () => {
  await duelog.put('twice', every(1_000))
  await duelog.command('twice', 'pause')
  const to = Math.floor(Date.now() / 1_000) * 1_000
  const backfill: JobCommandInput = { type: 'BACKFILL', commandId: 'b', at: to, from: to - 3_000, to }
  await send('twice', backfill)
  await duelog.command('twice', 'resume')
  await duelog.jobThat('twice', ({ succeeded }) => succeeded >= 3)
  await duelog.command('twice', 'pause')
  await duelog.without(() => send('twice', backfill))
  // A later command is applied later.
  await duelog.command('twice', 'pause')
  const job = await duelog.jobThat('twice', ({ active }) => active.length === 0)
  expect(job.status).toBe('PAUSED')
  expect(job.runNo - job.scheduledRuns).toBe(3)
})

test('a job id that no URL can contain is refused with a sentence', async () => {
  const answer = await fetch(`${duelog.url()}/v1/jobs/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: `${JSON.stringify({ id: '..', ...every(60_000), target: { handler: 'echo' } })}\n`,
  })
  expect(await answer.text()).toMatch(/bad-job-id.*is a path of its own in a URL/)
})
