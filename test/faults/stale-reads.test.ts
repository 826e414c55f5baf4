/** An owner has died and its partition is not taken over yet: its standby answers, in its own process and to others. */
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/ground/clock/clock.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { PartitionQueries } from '../../src/ground/ports/owner-queries.ts'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { connectLog } from '../../src/log/kafka/log.ts'
import { createApi } from '../../src/server/api/api.ts'
import { createAuditTrail } from '../../src/server/api/audit-trail/audit-trail.ts'
import { createOwnerDirectory } from '../../src/server/peers/owner-directory.ts'
import { remoteQueries } from '../../src/server/peers/remote-queries.ts'
import { partitionOf, topicPlans } from '../../streams/topics/topics.ts'
import { schedulerOf } from '../tools/duelog-process-scheduler.ts'
import { oneShots, openSite, type Site } from './harness.ts'
import { openWorker } from './worker.ts'

const partitions = 2
const dayMs = 86_400_000

/** An API alone; with `local`, the API of a process with the role scheduler. */
async function openApi(
  test: Parameters<typeof openSite>[0],
  { names, plan, prefix }: Site,
  local?: PartitionQueries,
  instance = 'asking@test:1:1',
) {
  const log = connectLog({ brokers: plan.brokers, clientId: 'stale' })
  const [writer, admin] = [await log.writer(), await log.admin()]
  const codecs = await createCodecs({ plans: topicPlans(names, ['default']), registryUrl: plan.registryUrl })
  const trail = createAuditTrail({ log, admin, codec: codecs.audit, names, instance, clock: systemClock })
  const owners = createOwnerDirectory({
    ...{ admin, instance, groupId: `${prefix}scheduler`, topic: names.commands, followedTopic: names.jobs, partitions, local },
    remote: (url) => remoteQueries(url),
    clock: systemClock,
  })
  const api = createApi({
    ...{ writer, codecs, names, partitions, owners, admin, trail, instance, local },
    ...{ metrics: newMetrics(), clock: systemClock, logger: pino({ level: 'silent' }) },
    health: () => ({ live: true, ready: true, reasons: [] }),
  })
  test.onTestFinished(async () => {
    await api.stop()
    await trail.stop()
    await Promise.all([writer.close(), admin.close()])
  })
  return api
}

test('a standby answers for an owner that was killed, and says how far it is behind', async (context) => {
  const site = await openSite(context, { partitions })
  await openWorker(context, site)
  // No process takes over while the test asks, for a second or so. The standby that stops waits until the group has detected the death.
  const slow = { standbys: 1, sessionTimeoutMs: 15_000 }
  const owner = await site.scheduler({ ...slow, folder: `${site.plan.folder}-owner` })
  await owner.reportThat((report) => report.partitions.filter(({ phase }) => phase === 'active').length === partitions)

  const plan = { ...site.plan, ...slow, folder: `${site.plan.folder}-standby` }
  const { scheduler, instance } = await schedulerOf(
    plan,
    () => undefined,
    (error) => {
      throw error
    },
  )
  const standby = await openApi(context, site, scheduler.queries, instance)
  Object.assign(plan, { userData: { url: await standby.listen('127.0.0.1', 0) } })
  await scheduler.start()
  context.onTestFinished(() => scheduler.stop())
  const followed = () =>
    scheduler.queries.partitions().filter(({ phase, behindRecords }) => phase === 'following' && behindRecords === 0)
  await expect.poll(() => followed().length, { timeout: 60_000 }).toBe(1)
  const number = followed()[0]?.partition ?? -1
  const asking = await openApi(context, site)

  const shots = oneShots('shot', 40, Date.now(), 10)
  const far = oneShots('far', 40, Date.now() + dayMs, 1_000)
  await site.write(shots, far)
  await site.checker.succeeded(shots.expected)
  const mine = (jobId: string): boolean => partitionOf(jobId, partitions) === number
  const [shot = '', later = ''] = [shots, far].map(({ jobs }) => jobs.map(({ id }) => id ?? '').find(mine))
  const { standbyReads } = scheduler.queries
  const known = async () => [
    (await standbyReads.job(number, shot))?.status,
    (await standbyReads.job(number, later))?.status,
    (await standbyReads.list(number, {}, 100)).jobs.length,
    followed().length,
  ]
  const count = [...shots.jobs, ...far.jobs].filter(({ id }) => mine(id ?? '')).length
  await expect.poll(known, { timeout: 60_000 }).toEqual(['COMPLETED', 'ACTIVE', count, 1])
  await owner.kill()

  for (const api of [standby, asking]) {
    const get = (url: string) => api.instance.inject({ method: 'GET', url })
    const refused = await get(`/v1/jobs/${shot}`)
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
    expect(refused.json().detail).toContain('?stale=true')
    const answer = await get(`/v1/jobs/${shot}?stale=true`)
    expect([answer.statusCode, answer.headers['duelog-stale'], answer.headers.etag]).toEqual([
      200,
      `${number};behind=0`,
      undefined,
    ])
    expect(answer.json()).toMatchObject({ id: shot, status: 'COMPLETED', succeeded: 1, lastRun: { status: 'SUCCEEDED' } })
    expect((await get(`/v1/jobs/${shot}/runs?stale=true`)).json()).toMatchObject({ runs: [{ status: 'SUCCEEDED' }] })
    expect((await get(`/v1/jobs/${later}/why?stale=true`)).json()).toMatchObject({ status: 'ACTIVE' })
    const listed = (await get('/v1/jobs?stale=true&limit=1000')).json()
    expect(listed.jobs.map(({ id }: { id: string }) => id)).toHaveLength(80)
    expect(listed.stale).toEqual([{ partition: number, behindRecords: 0 }])
    const [shown] = (await get('/v1/partitions'))
      .json()
      .partitions.filter((view: { partition: number }) => view.partition === number)
    expect(shown).toMatchObject({ phase: 'closed', standbys: [{ phase: 'following', behindRecords: 0 }] })
  }
  // These definitions are not in the standby's store. The standby knows how many records it lacks.
  const more = oneShots('more', 40, Date.now() + dayMs, 1_000)
  await site.write(more)
  const lacking = more.jobs.filter(({ id }) => mine(id ?? '')).length
  const behind = async () =>
    (await standby.instance.inject({ method: 'GET', url: `/v1/jobs/${shot}?stale=true` })).headers['duelog-stale']
  await expect.poll(behind).toBe(`${number};behind=${lacking}`)
})
