/** docs/JOBS.md: the fields of a definition, from schemas/job-definition.avsc. */
import { jobDefinitionSchema } from '../../schemas/generated.ts'
import { jobIdLimit } from '../../streams/definitions/validate.ts'
import { fieldTable } from './fields.ts'
import { heading, page } from './markdown.ts'

/** Jobs in JSON that the page shows; a test reads each of them as the API would. */
export const jobExamples: readonly { title: string; job: Record<string, unknown> }[] = [
  {
    title: 'Once, at an instant',
    job: {
      id: 'invoice-4711',
      schedule: { at: '2030-01-31T08:00:00+01:00' },
      target: { handler: 'send-invoice' },
      payload: { no: 4711 },
    },
  },
  {
    title: 'Once, some time after it was accepted; two tries, 30 s apart',
    job: {
      id: 'cart-17-reminder',
      schedule: { delayMs: 86_400_000 },
      target: { handler: 'remind' },
      retry: { maxAttempts: 2, backoff: { fixed: { delayMs: 30_000 } } },
    },
  },
  {
    title: 'Each working day at nine in Paris; a run that was missed is made up for once, and no two overlap',
    job: {
      id: 'report-7',
      schedule: { cron: '0 9 * * MON-FRI', timezone: 'Europe/Paris' },
      target: { handler: 'send-report' },
      payload: { to: 'a@example.org' },
      tags: ['reports'],
      overlap: 'SKIP',
      catchUp: 'LATEST',
    },
  },
  {
    title: 'Every five minutes on the clock, backing off exponentially',
    job: {
      id: 'sync',
      schedule: { everyMs: 300_000, anchor: 0 },
      target: { handler: 'sync', pool: 'default' },
      retry: { maxAttempts: 6, backoff: { exponential: { baseMs: 1_000, factor: 2, maxMs: 60_000 } }, jitter: 0.2 },
    },
  },
  {
    title: 'A message to a topic at an instant, written by the owner itself',
    job: {
      id: 'video-1-online',
      schedule: { at: '2030-01-31T08:00:00+01:00' },
      target: { topic: { name: 'online-videos', key: 'video-1' } },
      payload: { video: 1 },
    },
  },
  {
    title: 'One of many calls to a service that bears three at once and ten a second',
    job: {
      id: '{crm}/customer-17',
      schedule: { delayMs: 0 },
      target: { handler: 'sync-customer' },
      concurrencyKey: 'crm',
      concurrencyLimit: 3,
      rateLimit: { key: 'crm', limit: 10, perMs: 1_000 },
    },
  },
  {
    title: 'A webhook each hour',
    job: {
      id: 'hourly-hook',
      schedule: { cron: '@hourly' },
      target: { http: { url: 'https://example.org/hooks/hourly', headers: { authorization: 'Bearer token' } } },
    },
  },
]

export function jobsPage(): string {
  const examples = jobExamples.map(({ title, job }) => `${title}:\n\n\`\`\`json\n${JSON.stringify(job, null, 2)}\n\`\`\``)
  return page(
    heading(
      'Jobs',
      'schemas/job-definition.avsc',
      `A job is a record on the topic \`jobs\`: its key is the job's id (${jobIdLimit}), its value this definition. Writing the same id again replaces the job; a null value deletes it. Jobs whose ids share a \`{tag}\` stand in one partition ([TOPICS](TOPICS.md)).`,
    ),
    '## In JSON',
    [
      'The HTTP API and `createClient` take the same fields with `id` beside them.',
      '',
      '- Times are ISO 8601 with an offset, or epoch ms; durations are ms.',
      '- `payload` is any JSON value; text where `contentType` names something else than JSON; `payloadBase64` in its place is bytes. Header values and keys are text, or `{"base64"}` for bytes.',
      '- Enum values may be in lower case. An unknown field is refused, with the name it may have been meant to be.',
      '- `schedule`, `target` and `retry.backoff` have exactly one of their alternatives set. What the targets do stands in [TARGETS](TARGETS.md).',
    ].join('\n'),
    ...examples,
    '## Fields',
    fieldTable(jobDefinitionSchema),
    [
      '## When it is due',
      '',
      '- The next time is computed from the last nominal time and the definition, never from how a run went: no failure stops a recurring job, and lateness does not add up.',
      '- Replacing a definition without changing `schedule`, `startAt` and `endAt` keeps the times in force, so an interval that is sent again and again still fires; only a delay counts anew. Changing them begins anew from the append time of the new definition.',
      '- A pause by command outlives a replacement; a pause by definition ends with it. Runs in flight keep the payload and target they were made with.',
      '- `rrule` is one rule of RFC 5545 without DTSTART, RDATE and EXDATE lines: those are `dtstart` and `exdates`. What the rule does not name it takes from `dtstart`. UNTIL without `Z` is a time on the wall of the zone, a day alone is meant to its end. BYSECOND=60 and RSCALE are refused, and so is a rule that never comes true. Where its INTERVAL never meets what else it names only because of when it begins, and it has no `dtstart` and no `startAt`, the job becomes INVALID with that reason: whether it does is known when the definition is taken. A job whose `endAt`, UNTIL or COUNT leaves nothing is COMPLETED at once, as an instant in the past is due at once; `why` says that it never had an occurrence. (In the RFC a time that does not exist is left out: that is `dstGap` SKIP.)',
      '- `jitterMs` spreads jobs of one schedule: each run is due up to so much after its nominal time and before the next one, always by the same amount for the same job and time. `scheduledFor` stays nominal, the worker gets both.',
      '- Daylight saving: a wall-clock time that is left out is due once at the first instant after the gap, one that comes twice at the first of the two; `dstGap` and `dstOverlap` say otherwise. A schedule that names every hour, such as `*/15 * * * *` or `FREQ=HOURLY`, goes by elapsed time instead and loses and doubles no step, whatever the policy.',
      '- Rules of time zones come with Node, and change. After an upgrade each job fires at its time on the clock by the new rules; what ran does not run again because that time now comes later, and what moved into the past is for `catchUp`. `duelog schedule diff-tz`, run with the new Node against a running Duelog, shows beforehand which jobs move, and from when on ([ADR 0040](adr/0040-next-times-by-the-clock-of-their-zone.md)).',
      '- An occurrence that is later than `misfireThresholdMs` follows `catchUp`. What is skipped is counted in `skipped`, each occurrence, however long the absence.',
      '- A backfill shares the places of the job with its schedule: an occurrence that waits for one goes first.',
      '- A backfill of a time before the job was defined goes by the same grid or rule, continued into the past: intervals from their anchor or the append time, rules without `dtstart` and `startAt` by what they take from the append time. `startAt`, `endAt`, `dtstart` and UNTIL bound it.',
      '- `endAt` is inclusive: an occurrence exactly then still fires. `expireAt` is exclusive: in that very ms nothing fires or starts any more, and what would make a run is refused.',
      '- A job without a further occurrence is `COMPLETED` and is deleted after `retainCompletedMs` or `retainFailedMs`, unless it is defined anew or triggered before.',
      '- A job that is deleted takes its active runs along: nothing more of them is heard, and no follow-up comes of them. Workers are told as of a cancelled run. The signal of a running handler is aborted when its worker hears of it; an execution that waits in a topic does not start where its worker has read that before. A worker that was away for longer than `worker-control` is kept (one hour) starts it all the same.',
    ].join('\n'),
    [
      '## Limits that jobs share',
      '',
      '- A run beyond a limit is `WAITING`: it has its number, counts as active for `overlap` and `maxConcurrentRuns`, can be cancelled, and is `EXPIRED` when `startDeadlineMs` or `expireAt` is over. `waitsFor` and `/why` say what for.',
      '- Both limits are kept by the owner of a partition and are exact among the jobs in it: give jobs that share a key one `{tag}` in their ids, such as `{crm}/customer-17`. Jobs of one key in several partitions have the limit in each of them.',
      '- A slot of a `concurrencyKey` is held from the dispatch to the end of an attempt; a backoff gives it back. Who waits goes by `priority`, then by due time; nobody overtakes the first of the queue, also where limits differ. A worker that fell silent loses its slot with its lease, although it may still be at work; and so does a run that is cancelled, or whose job is deleted: its slot is free as this is decided, a moment before its handler hears of it.',
      '- The number that counts is `concurrencyLimit` of the definition in force of the job that waits. A higher one holds at once; a lower one as running attempts end.',
      '- `rateLimit` is a sliding window over the starts of attempts, retries among them: no stretch of `perMs` has more than `limit` of them, wherever it begins. Starts are given in the order in which runs ask, and for good: what is cancelled meanwhile does not give its start back, and a raised limit holds for what comes after. A start is the time before which no worker begins; a worker that is late begins late, and several of those may fall together.',
      '- With both, a run first gets its slot and then its start, which it waits for with its slot. A run whose start would lie after its start deadline expires at once and takes none.',
      '- Jobs with limits are dispatched no earlier than the usual lead. `rateLimit` works with every target, `concurrencyKey` with handlers and HTTP.',
    ].join('\n'),
    [
      '## Runs that are not tracked',
      '',
      'With `trackRuns: false` a run is over for Duelog in the very decision that hands it to the workers: no lease, no timer, no report, no retry, and a fraction of the bytes. It is meant for floods of cheap runs.',
      '',
      '- Each occurrence is still handed out exactly once and not before its time, and schedule, catch-up, `maxRuns`, window, priority, trigger, pause and retention are as ever. `attemptTimeoutMs` and `startDeadlineMs` are kept by the worker alone.',
      '- A worker runs it **at least once**: its offset is done when the handler has settled, timed out or failed. It runs again when its worker dies before, when its partition goes to another worker meanwhile, or when a worker stops and its drain ends first; `executionId` is the same then. Make such handlers idempotent.',
      '- Offsets are committed in order. A slow run of this kind keeps those behind it from being committed, and what is not committed runs again after a crash, tracked or not: give them a `pool` of their own where that matters.',
      '- Nobody knows how it ended: in `/runs` it stands as `DISPATCHED`, with the time it was handed out as `finishedAt`, and neither `succeeded` nor `failed` counts it. A failure is counted by the worker in `duelog_untracked_failures_total` and logged with the job id, at most 20 lines a second.',
      '- It cannot be cancelled (`not-tracked`), and there is no backfill. `POST /v1/jobs/{id}/cancel` keeps further ones from being made; one that was dispatched ahead of its time still runs.',
      '- What needs the end of a run is refused beside it: `overlap` other than `ALLOW`, `maxConcurrentRuns` (unless there is a `rateLimit`: then it says how many runs may wait for their start), `from` END, `onSuccess`, `onFailure`, `retry` with more than one attempt (the default of 5 does not apply), `pinTo`, and topic targets, whose runs are known to have succeeded.',
      '- Runs that are in flight when the definition changes stay what they were made as.',
    ].join('\n'),
  )
}
