/** What the API answers of jobs and runs, as far as the command line shows it. */

export interface RunAnswer {
  runId: string
  jobId: string
  runNo: number
  status: string
  trigger: string
  scheduledFor: string
  attempts: number
  startedAt: string | null
  finishedAt: string | null
  worker: string | null
  progress?: number | null
  message?: string | null
  result: unknown
  errors: { attempt: number; at: string; worker: string | null; type: string; message: string }[]
}

export interface JobAnswer {
  id: string
  etag: string
  status: string
  reason: string | null
  nextFireAt: string | null
  runNo: number
  succeeded: number
  failed: number
  skipped: number
  cancelled: number
  deadRuns: number[]
  active: RunAnswer[]
  lastRun: RunAnswer | null
  definition: Definition | null
}

export interface Definition {
  schedule: Record<string, unknown>
  target: Record<string, unknown>
  tags?: string[]
  [field: string]: unknown
}

/** Answer to a command that the owner carries out. */
export interface CommandAnswer {
  commandId: string
  applied: boolean
  runId?: string | null
  reason?: string | null
  status?: string
  /** Why it is not applied yet. */
  detail?: string
}

/** `cron 0 9 * * * Europe/Paris`, `every 5000 ms`, … */
export function scheduleText(definition: Definition | null): string {
  const { at, delayMs, everyMs, cron, rrule, timezone } = definition?.schedule ?? {}
  const zone = typeof timezone === 'string' && timezone !== 'UTC' ? ` ${timezone}` : ''
  if (typeof cron === 'string') return `cron ${cron}${zone}`
  if (typeof rrule === 'string') return `rrule ${rrule}${zone}`
  if (typeof everyMs === 'number') return `every ${everyMs} ms`
  if (typeof delayMs === 'number') return `once after ${delayMs} ms`
  return at === undefined || at === null ? '' : `once at ${at}`
}

export function targetText(definition: Definition | null): string {
  const { handler, topic, http, pool } = definition?.target ?? {}
  const of = typeof pool === 'string' && pool !== 'default' ? ` in ${pool}` : ''
  if (typeof handler === 'string') return `${handler}${of}`
  if (typeof topic === 'object' && topic !== null) return `topic ${(topic as { name?: string }).name}`
  return typeof http === 'object' && http !== null ? `http ${(http as { url?: string }).url}${of}` : ''
}
