/** An occurrence that is due while a run of the job is still active. */
import { expect, test } from 'vitest'
import { every, openDuelog } from './harness.ts'

const duelog = await openDuelog()
const holding = { target: { handler: 'hold' } }

test('ALLOW: runs run in parallel, up to maxConcurrentRuns, and further ones are skipped with the reason', async () => {
  await duelog.put('crowd', { ...every(300), ...holding, maxConcurrentRuns: 2 })
  const job = await duelog.jobThat('crowd', ({ skipped }) => skipped >= 2)
  expect(job.active).toHaveLength(2)
  expect(await duelog.why('crowd')).toContainEqual(expect.objectContaining({ code: 'max-concurrent-runs' }))
  await duelog.remove('crowd')
})

test('SKIP: one run at a time; the job continues when it ends', async () => {
  await duelog.put('single', { ...every(300), ...holding, overlap: 'SKIP' })
  const [first] = await duelog.called('single')
  await duelog.jobThat('single', ({ skipped }) => skipped >= 2)
  expect(duelog.callsOf('single')).toHaveLength(1)
  first?.release()
  const [, second] = await duelog.called('single', 2)
  expect(second?.run.runNo).toBe(2)
  await duelog.remove('single')
})

test('QUEUE_ONE: the first overlap waits, the others are skipped', async () => {
  await duelog.put('queue', { ...every(400), ...holding, overlap: 'QUEUE_ONE' })
  const [first] = await duelog.called('queue')
  await duelog.jobThat('queue', ({ skipped }) => skipped >= 2)
  first?.release()
  const [, second] = await duelog.called('queue', 2)
  expect(second?.run.scheduledFor).toBe((first?.run.scheduledFor ?? 0) + 400)
  await duelog.remove('queue')
})

test('CANCEL_PREVIOUS: the signal of the earlier handler is aborted, and its run ends as CANCELLED', async () => {
  await duelog.put('newest', { ...every(1_000), ...holding, overlap: 'CANCEL_PREVIOUS' })
  const [first] = await duelog.called('newest')
  await duelog.called('newest', 2)
  const job = await duelog.jobThat('newest', ({ cancelled }) => cancelled >= 1)
  await expect.poll(() => first?.run.signal.aborted).toBe(true)
  expect(job.active.length).toBeLessThanOrEqual(1)
  await duelog.remove('newest')
})
