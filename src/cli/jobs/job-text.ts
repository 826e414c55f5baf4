/** Schedules and targets of the API's answers, as text. */
import type { JobDefinition } from '../../answers/index.ts'

/** `cron 0 9 * * * Europe/Paris`, `every 5000 ms`, … */
export function scheduleText(definition: JobDefinition | null): string {
  const { at, delayMs, everyMs, cron, rrule, timezone } = definition?.schedule ?? {}
  const zone = typeof timezone === 'string' && timezone !== 'UTC' ? ` ${timezone}` : ''
  if (typeof cron === 'string') return `cron ${cron}${zone}`
  if (typeof rrule === 'string') return `rrule ${rrule}${zone}`
  if (typeof everyMs === 'number') return `every ${everyMs} ms`
  if (typeof delayMs === 'number') return `once after ${delayMs} ms`
  return at === undefined || at === null ? '' : `once at ${at}`
}

export function targetText(definition: JobDefinition | null): string {
  const { handler, topic, http, pool } = definition?.target ?? {}
  const of = typeof pool === 'string' && pool !== 'default' ? ` in ${pool}` : ''
  if (typeof handler === 'string') return `${handler}${of}`
  if (typeof topic === 'object' && topic !== null) return `topic ${(topic as { name?: string }).name}`
  return typeof http === 'object' && http !== null ? `http ${(http as { url?: string }).url}${of}` : ''
}
