/** Values for each field of a definition, and the jobs in which each field is tried: every target with every schedule, and more. */

export type Json = Record<string, unknown>

export interface Sample {
  /** What the job has besides, with and without the field. */
  beside?: Json
  /** Jobs parts that set the field; one of them must show what it does. */
  set: (from: number) => Json[]
}

const hour = 3_600_000
const day = 24 * hour
const backoff = (value: Json): Sample => ({ set: () => [{ retry: { backoff: value } }] })
const given = (...set: Json[]): Sample => ({ set: () => set })

/** By path. `from` is the time at which a history begins. */
export const samples: Record<string, Sample> = {
  'schedule.at': { set: (from) => [{ schedule: { at: from + 2 * hour } }] },
  'schedule.delayMs': given({ schedule: { delayMs: 2 * hour } }),
  'schedule.everyMs': given({ schedule: { everyMs: 5 * hour } }),
  'schedule.anchor': { set: (from) => [{ schedule: { anchor: from + hour } }] },
  'schedule.from': given({ schedule: { from: 'END' } }, { schedule: { from: 'START' } }),
  'schedule.cron': given({ schedule: { cron: '45 2,14 * * *' } }),
  'schedule.timezone': given({ schedule: { timezone: 'Asia/Tokyo' } }, { schedule: { timezone: 'Asia/Kathmandu' } }),
  'schedule.rrule': given({ schedule: { rrule: 'FREQ=DAILY;BYHOUR=5;BYMINUTE=0;BYSECOND=0' } }),
  'schedule.dtstart': { set: (from) => [{ schedule: { dtstart: from + 36 * hour } }] },
  'schedule.exdates': {
    set: (from) => [
      { schedule: { exdates: Array.from({ length: 400 }, (_, index) => new Date(from + (index * hour) / 4).toISOString()) } },
    ],
  },
  'schedule.dstGap': given({ schedule: { dstGap: 'SKIP' } }, { schedule: { dstGap: 'SHIFT' } }),
  'schedule.dstOverlap': given({ schedule: { dstOverlap: 'BOTH' } }, { schedule: { dstOverlap: 'LAST' } }),
  jitterMs: given({ jitterMs: 60_000 }),
  'target.handler': given({ target: { handler: 'other' } }),
  'target.topic.name': given({ target: { topic: { name: 'other' } } }),
  'target.topic.key': given({ target: { topic: { key: 'other' } } }),
  'target.topic.partition': given({ target: { topic: { partition: 3 } } }),
  'target.http.url': given({ target: { http: { url: 'https://other.example/' } } }),
  'target.http.method': given({ target: { http: { method: 'PUT' } } }),
  'target.http.headers': given({ target: { http: { headers: { 'x-a': 'b' } } } }),
  'target.pool': given({ target: { pool: 'other' } }),
  payload: given({ payload: 'other text' }),
  contentType: given({ contentType: 'text/plain' }),
  headers: given({ headers: { 'x-a': 'b' } }),
  priority: given({ priority: 'HIGH' }),
  pinTo: given({ pinTo: 'gpu' }),
  'retry.maxAttempts': given({ retry: { maxAttempts: 2 } }, { retry: { maxAttempts: 1 } }),
  'retry.backoff.list': backoff({ list: [7_000] }),
  'retry.backoff.fixed.delayMs': backoff({ fixed: { delayMs: 8_000 } }),
  'retry.backoff.linear.stepMs': backoff({ linear: { stepMs: 8_000 } }),
  'retry.backoff.exponential.baseMs': backoff({ exponential: { baseMs: 8_000 } }),
  'retry.backoff.exponential.factor': {
    beside: { retry: { backoff: { exponential: { baseMs: 8_000 } } } },
    set: () => [{ retry: { backoff: { exponential: { factor: 3 } } } }],
  },
  'retry.backoff.exponential.maxMs': {
    beside: { retry: { backoff: { exponential: { baseMs: 8_000 } } } },
    set: () => [{ retry: { backoff: { exponential: { maxMs: 9_000 } } } }],
  },
  'retry.maxAgeMs': given({ retry: { maxAgeMs: 2_000 } }),
  'retry.jitter': given({ retry: { jitter: 0.5 } }),
  'retry.nonRetryable': given({ retry: { nonRetryable: ['Error'] } }),
  attemptTimeoutMs: given({ attemptTimeoutMs: 10_000 }),
  leaseMs: given({ leaseMs: 5_000 }),
  startDeadlineMs: given({ startDeadlineMs: hour }),
  catchUp: given({ catchUp: 'SKIP' }, { catchUp: 'ALL' }),
  catchUpMax: given({ catchUpMax: 2 }),
  misfireThresholdMs: given({ misfireThresholdMs: day }, { misfireThresholdMs: 13 * hour }),
  overlap: given({ overlap: 'CANCEL_PREVIOUS' }, { overlap: 'QUEUE_ONE' }),
  maxConcurrentRuns: given({ maxConcurrentRuns: 2 }),
  concurrencyKey: given({ concurrencyKey: 'k' }),
  concurrencyLimit: { beside: { concurrencyKey: 'k' }, set: () => [{ concurrencyLimit: 9 }] },
  'rateLimit.key': given({ rateLimit: { key: 'k', limit: 1, perMs: day } }),
  'rateLimit.limit': { beside: { rateLimit: { key: 'k', limit: 1, perMs: day } }, set: () => [{ rateLimit: { limit: 2 } }] },
  'rateLimit.perMs': { beside: { rateLimit: { key: 'k', limit: 1, perMs: day } }, set: () => [{ rateLimit: { perMs: hour } }] },
  startAt: { set: (from) => [{ startAt: from + 15 * hour }] },
  endAt: { set: (from) => [{ endAt: from + hour / 2 }, { endAt: from + 10 * hour }] },
  expireAt: { set: (from) => [{ expireAt: from + hour / 2 }] },
  maxRuns: given({ maxRuns: 1 }),
  paused: given({ paused: true }),
  version: given({ version: 7 }),
  dedupKey: { beside: { dedupWindowMs: day }, set: () => [{ dedupKey: 'k' }] },
  dedupWindowMs: { beside: { dedupKey: 'k' }, set: () => [{ dedupWindowMs: day }] },
  onSuccess: given({ onSuccess: ['next'] }),
  onFailure: given({ onFailure: ['alarm'] }),
  tags: given({ tags: ['t'] }),
  retainCompletedMs: given({ retainCompletedMs: 5_000 }),
  retainFailedMs: given({ retainFailedMs: 5_000 }),
}

export const targets: Record<string, Json> = {
  handler: { handler: 'a' },
  topic: { topic: { name: 'place' } },
  http: { http: { url: 'https://example.org/' } },
}

export const schedules: Record<string, (from: number) => Json> = {
  at: (from) => ({ at: from + hour }),
  delayMs: () => ({ delayMs: hour }),
  everyMs: () => ({ everyMs: 6 * hour }),
  'everyMs from END': () => ({ everyMs: 6 * hour, from: 'END' }),
  cron: () => ({ cron: '30 2,14 * * *' }),
  'cron in Paris': () => ({ cron: '30 2,14 * * *', timezone: 'Europe/Paris' }),
  'cron of every hour in Paris': () => ({ cron: '15 * * * *', timezone: 'Europe/Paris' }),
  'rrule in Paris': () => ({ rrule: 'FREQ=DAILY;BYHOUR=2,14;BYMINUTE=30;BYSECOND=0', timezone: 'Europe/Paris' }),
}

/** What a job has besides target and schedule. */
export const variations: Record<string, Json> = {
  'no more': {},
  'catchUp ALL': { catchUp: 'ALL', catchUpMax: 1 },
  'catchUp SKIP': { catchUp: 'SKIP' },
  'overlap SKIP': { overlap: 'SKIP' },
  'one attempt': { retry: { maxAttempts: 1 } },
  'no payload': { payload: null },
}
