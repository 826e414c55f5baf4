/**
 * A nightly report for offices in three time zones, at 04:00 local time of each, in summer and winter. The handler uses the night
 * of the occurrence, not the time of the run. So a night that was missed, or is requested again, gives the same report.
 */
import { createClient, createWorker } from 'duelog'
import { apiUrl, cluster } from './cluster.ts'

const offices = { berlin: 'Europe/Berlin', 'new-york': 'America/New_York', tokyo: 'Asia/Tokyo' }
const dayMs = 86_400_000

const reports: string[] = []
const all = Promise.withResolvers<void>()
const worker = createWorker({
  ...cluster,
  handlers: {
    'nightly-report': (run) => {
      const { office, timezone } = run.payload as { office: string; timezone: string }
      const night = new Date(run.scheduledFor).toLocaleString('sv-SE', { timeZone: timezone })
      reports.push(`${office}: report of the night of ${night}`)
      if (reports.length === Object.keys(offices).length) all.resolve()
    },
  },
})
await worker.start()

const client = createClient({ url: apiUrl })
const now = Date.now()
for (const [office, timezone] of Object.entries(offices)) {
  const id = `nightly/${office}`
  const schedule = { cron: '0 4 * * *', timezone }
  await client.schedule(
    { id, schedule, target: { handler: 'nightly-report' }, payload: { office, timezone } },
    { wait: 'applied' },
  )

  const fires = await client.preview(schedule, { from: now - 2 * dayMs, count: 5 })
  const next = fires.filter(({ atMs }) => atMs > now)
  console.log(`${office}: the next nights are ${next.map(({ at }) => at).join(', ')}`)

  // The example does not wait for the next night. It makes the report of the last night at once.
  const last = fires.findLast(({ atMs }) => atMs <= now)?.atMs ?? now
  await client.backfill(id, { from: last, to: last + 1 })
}
await all.promise
console.log(reports.sort().join('\n'))

for (const office of Object.keys(offices)) await client.delete(`nightly/${office}`)
await worker.close()
await client.close()
