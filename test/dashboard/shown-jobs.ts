/** Jobs of a fictional company, so that lists and charts look as in real use. */
const every = (everyMs: number, handler: string, tags: string[], payload: object = {}) => ({
  ...{ schedule: { everyMs }, target: { handler }, tags, payload },
})
const cron = (text: string, timezone: string, tags: string[]) => ({
  ...{ schedule: { cron: text, timezone }, target: { handler: 'noop' }, tags },
})

export const shownJobs: Record<string, object> = {
  'billing.close-day': cron('59 23 * * *', 'Europe/Paris', ['billing']),
  'billing.invoices': cron('*/15 * * * *', 'UTC', ['billing']),
  'billing.reminders': cron('0 8 * * MON-FRI', 'Europe/Paris', ['billing', 'mail']),
  'catalogue.prices': every(2_500, 'noop', ['catalogue']),
  'catalogue.search-index': every(4_000, 'sleep', ['catalogue'], { ms: 900 }),
  'catalogue.thumbnails': every(1_500, 'noop', ['catalogue']),
  'customers.import': every(7_000, 'sleep', ['customers'], { ms: 3_000 }),
  'customers.merge': cron('0 3 * * *', 'America/New_York', ['customers']),
  'daily-report': cron('0 9 * * MON-FRI', 'America/New_York', ['reports']),
  'exchange-rates': {
    ...every(3_000, 'fail', ['finance'], { times: 1 }),
    retry: { maxAttempts: 4, backoff: { fixed: { delayMs: 500 } } },
  },
  'invoice-4711': { schedule: { at: '2031-01-31T08:00:00+01:00' }, target: { handler: 'noop' }, tags: ['billing'] },
  'mail.digest': cron('0 7 * * *', 'Asia/Tokyo', ['mail']),
  'mail.outbox': every(1_000, 'noop', ['mail']),
  'partners.acme-hook': {
    ...{ schedule: { everyMs: 20_000 }, target: { http: { url: 'https://hooks.example.org/acme' } }, tags: ['partners'] },
    ...{ retry: { maxAttempts: 2, backoff: { fixed: { delayMs: 60_000 } } } },
  },
  'sessions.sweep': every(2_000, 'noop', ['security']),
  'stock.levels': every(1_200, 'noop', ['stock']),
  'stock.reorder': cron('*/5 * * * *', 'UTC', ['stock']),
}

/** Jobs that coincide at full hours and quarters, as in real schedules. */
export const calendarJobs: Record<string, object> = Object.fromEntries(
  [
    ['0 * * * *', 24],
    ['*/15 * * * *', 5],
    ['*/5 * * * *', 1],
    ['30 8-18 * * MON-FRI', 36],
    ['50 3 * * *', 20],
  ].flatMap(([text, many], group) =>
    Array.from({ length: Number(many) }, (_, index) => [
      `group-${group}.${index}`,
      cron(String(text), 'UTC', ['calendar', `group-${group}`]),
    ]),
  ),
)
