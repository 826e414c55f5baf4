/**
 * operations: n jobs are paused, resumed and cancelled, each by one operation over HTTP, while other jobs fire once a second. The figures
 * are the time from the request until it holds for all jobs, the time to the end of the operation, and how late the runs of the others were in the log meanwhile.
 */
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, jobs, Stage } from '../tools/bed.ts'
import { neighbourReport, neighbours, type Window } from '../tools/neighbours.ts'

const farMs = 7 * 86_400_000
const payloadBytes = 200
const neighboursPerSecond = 50
const actions = ['PAUSE', 'RESUME', 'CANCEL'] as const
const endMsMax = 600_000

interface Seen {
  status: string
  total: number | null
  applied: number
  refused: number
  createdAt: string
  effectiveAt: string | null
  endedAt: string | null
}

export async function operations(bed: Bed, n = 1_000_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const owner = await stage.start('scheduler,executor,retrier,api', 'owner')
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    await client.scheduleMany(jobs(n, (index) => Date.now() + farMs + index, payloadBytes))
    await untilCounted(owner.url, n)
    const fromMs = Date.now() + 2_000
    await client.scheduleMany(neighbours(neighboursPerSecond, fromMs, fromMs + 3 * endMsMax))
    await client.close()
    await new Promise((resolve) => setTimeout(resolve, 12_000))
    const windows: Record<string, Window> = { before: { fromMs: fromMs + 2_000, untilMs: Date.now() } }
    const figures: Record<string, unknown> = {}
    for (const action of actions) {
      const before = await owner.report()
      const beganMs = Date.now()
      const { seen, tookMs } = await operate(owner.url, action)
      windows[action] = { fromMs: beganMs, untilMs: Date.now() }
      const cpuMs = (await owner.report()).cpuMs - before.cpuMs
      const { status, total, applied, refused, createdAt, effectiveAt } = seen
      const effectiveMs = effectiveAt === null ? null : Date.parse(effectiveAt) - Date.parse(createdAt)
      const perSecond = Math.round((applied * 1_000) / tookMs)
      figures[action] = { status, total, applied, refused, effectiveMs, tookMs, perSecond, cpuMs: Math.round(cpuMs) }
    }
    return { n, ...figures, neighbours: await neighbourReport(stage, windows) }
  } finally {
    await stage.close()
  }
}

const filter = { idPrefix: 'job-' }

async function operate(url: string, action: string): Promise<{ seen: Seen; tookMs: number }> {
  const askedAt = performance.now()
  const { id } = await ask<{ id: string }>(`${url}/v1/operations`, { action, filter })
  for (;;) {
    const seen = await ask<Seen>(`${url}/v1/operations/${id}`)
    const tookMs = Math.round(performance.now() - askedAt)
    if (seen.endedAt !== null) return { seen, tookMs }
    if (tookMs > endMsMax) throw new Error(`${action} does not end: ${JSON.stringify(seen)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function untilCounted(url: string, n: number): Promise<void> {
  for (;;) {
    const { count } = await ask<{ count: number }>(`${url}/v1/operations/count`, { action: 'PAUSE', filter })
    if (count === n) return
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

async function ask<Answer>(url: string, body?: object): Promise<Answer> {
  const sent = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const answer = await fetch(url, sent)
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as Answer
}
