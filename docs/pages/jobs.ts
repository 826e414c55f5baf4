/** docs/JOBS.md: the fields of a definition, from schemas/job-definition.avsc. */
import { jobDefinitionSchema } from '../../schemas/generated.ts'
import { jobIdLimit } from '../../streams/definitions/validate.ts'
import { withoutEffect } from '../../streams/definitions/without-effect.ts'
import { fieldTable } from './fields.ts'
import { code, heading, page, table } from './markdown.ts'

/** Jobs in JSON that the page shows. A test reads each of them as the API does. */
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
    title: 'Once, a delay after it was accepted; two attempts, 30 s apart',
    job: {
      id: 'cart-17-reminder',
      schedule: { delayMs: 86_400_000 },
      target: { handler: 'remind' },
      retry: { maxAttempts: 2, backoff: { fixed: { delayMs: 30_000 } } },
    },
  },
  {
    title: 'Each working day at nine in Paris; after missed occurrences only the latest runs; runs do not overlap',
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
    title: 'Every five minutes on the clock, with an exponential backoff',
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
    title: 'One of many calls to a service that allows three at once and ten a second',
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
      `A job is a record on the topic \`jobs\`: its key is the job's id (${jobIdLimit}), its value this definition. Writing the same id again replaces the job; a null value deletes it. Jobs whose ids share a \`{tag}\` are in one partition ([TOPICS](TOPICS.md)).`,
    ),
    '## In JSON',
    [
      'The HTTP API and `createClient` take the same fields with `id` beside them.',
      '',
      '- Times are ISO 8601 with an offset, or epoch ms; durations are ms.',
      '- `payload` is any JSON value, or text if `contentType` is not JSON. `payloadBase64` in its place is bytes. Header values and keys are text, or `{"base64"}` for bytes.',
      '- Enum values may be in lower case. An unknown field is refused, with the name that was probably meant.',
      '- `schedule`, `target` and `retry.backoff` have exactly one of their alternatives set. [TARGETS](TARGETS.md) says what each target does.',
    ].join('\n'),
    ...examples,
    '## Fields',
    fieldTable({ ...jobDefinitionSchema, fields: jobDefinitionSchema.fields.filter(({ name }) => name !== 'priorityLevel') }),
    '## Fields without effect',
    'Whoever reads a job in JSON (the HTTP API, `duelog jobs apply` and `plan`, `createClient`) refuses a field that has no effect beside the others, and says what to write. A value equal to the default is accepted. A definition that another program writes to `jobs` as Avro stays valid; its JSON leaves these fields out ([ADR 0085](adr/0085-no-field-is-accepted-and-ignored.md)).',
    table(
      ['Field', 'Has no effect', 'Because', 'Instead'],
      withoutEffect.map(({ fields, when, why, instead }) => [fields.map(code).join(', '), when, why, instead]),
    ),
    'Fields of a schedule or target that belong to another kind, such as `schedule.anchor` with `schedule.cron`, are refused in every form.',
    [
      '## When it is due',
      '',
      '- The next time is computed from the last nominal time and the definition, never from the result of a run. So no failure stops a recurring job, and lateness does not accumulate.',
      '- Replacing a definition without changing `schedule`, `startAt` and `endAt` keeps its times. Sending an `everyMs` job again does not reset it; sending a `delayMs` job does. A change of these fields starts again from the append time of the new definition.',
      '- A pause by command stays after a replacement. A pause by definition ends with that definition. A paused job still runs for triggers, redrives and follow-ups of other jobs. Active runs keep their payload and target.',
      '- `rrule` is one rule of RFC 5545 without DTSTART, RDATE and EXDATE lines. Use `dtstart` and `exdates` instead. Fields that the rule does not name come from `dtstart`. UNTIL without `Z` is wall-clock time of the zone; a date alone means the end of that day. BYSECOND=60, RSCALE and rules without any occurrence are refused. A rule without `dtstart` and `startAt` begins at the append time. With that begin, its INTERVAL may never meet the other parts. Then the job becomes INVALID with that reason when the owner reads it. A job whose `endAt`, UNTIL or COUNT leaves no occurrence is COMPLETED at once; `why` says that it never had one. (An instant in the past, by contrast, is due at once.) The RFC leaves out a time that does not exist. Here `dstGap` SKIP does that. It leaves open what a rule means that does not name its `dtstart`. Here `dtstart` is then no occurrence, and INTERVAL counts from its period; with BYWEEKNO that is its calendar year, as years of weeks. The answer has a warning with the first time.',
      '- `jitterMs` spreads jobs of one schedule. Each run is due up to `jitterMs` after its nominal time and before the next one, always by the same amount for the same job and time. `scheduledFor` stays the nominal time; the worker gets both.',
      '- Daylight saving: a wall-clock time in the gap is due once, at the first instant after the gap. A time that comes twice is due at the first of the two. `dstGap` and `dstOverlap` change that. A schedule that names every hour, such as `*/15 * * * *` or `FREQ=HOURLY`, uses elapsed time instead. It neither loses nor doubles a step, under any policy.',
      '- Time zone rules come with Node, and change. After an upgrade each job fires at its wall-clock time by the new rules. An occurrence that has run does not run again if its time is now later. An occurrence that moved into the past follows `catchUp`. Before the upgrade, run `duelog schedule diff-tz` with the new Node against a running Duelog. It shows which jobs move, and from when on ([ADR 0040](adr/0040-next-times-by-the-clock-of-their-zone.md)).',
      '- An occurrence that is later than `misfireThresholdMs` follows `catchUp`. Each skipped occurrence is counted in `skipped`, however long the downtime was.',
      '- A backfill shares `maxConcurrentRuns` of the job with its schedule. An occurrence of the schedule that waits goes first. `duelog jobs backfill --dry-run` counts its runs, `backfill` of the job shows its progress, and `--cancel` ends it.',
      '- A backfill of a time before the job was defined uses the same grid or rule, continued into the past. Intervals count from their anchor or the append time. Rules without `dtstart` and `startAt` take their missing parts from the append time. `startAt`, `endAt`, `dtstart` and UNTIL limit it.',
      '- `endAt` is inclusive: an occurrence exactly at that time still fires. `expireAt` is exclusive: from that millisecond on nothing fires or starts, and commands that would make a run are refused.',
      '- A job without a further occurrence is `COMPLETED` and is deleted after `retainCompletedMs` or `retainFailedMs`, unless it is defined again or triggered before.',
      '- Deleting a job deletes its active runs. There are no more reports of them, and no follow-ups. Workers get the same message as for a cancelled run. They abort the signal of a running handler when they read it. An execution that waits in a topic does not start if its worker has read the message before. A worker that was unreachable for longer than the retention of `worker-control` (one hour) still starts it.',
    ].join('\n'),
    [
      '## Limits that jobs share',
      '',
      '- A run beyond a limit is `WAITING`: it has its number, counts as active for `overlap` and `maxConcurrentRuns`, can be cancelled, and is `EXPIRED` when `startDeadlineMs` or `expireAt` is over. `waitsFor` and `/why` say what it waits for.',
      '- The owner of a partition enforces both limits, exactly among the jobs of that partition. So give jobs that share a key one `{tag}` in their ids, such as `{crm}/customer-17`. Jobs of one key in several partitions have the full limit in each of them.',
      '- A slot of a `concurrencyKey` is held from the dispatch to the end of an attempt; a backoff gives it back. Waiting runs are admitted by `priority`, then by attempts, then by due time. Every 16th goes because it has been due longest among those behind the first priority and attempt. Nobody else overtakes the first one, even if their limits differ. A silent worker loses the slot with its lease, although it may still run. A run that is cancelled, or whose job is deleted, loses its slot with that decision, a moment before its handler is aborted.',
      '- The `concurrencyLimit` in the current definition of the waiting job counts. A higher limit applies at once, a lower one as running attempts end.',
      '- `rateLimit` is a sliding window over the starts of attempts, including retries: no period of `perMs` has more than `limit` starts. Starts are given in the order of requests, and are final. A cancelled run does not return its start, and a raised limit applies to later requests. A start is the earliest time at which a worker may begin; handlers begin some ms later. So a handler that begins late and others that begin in time may share a period: in any `perMs` handlers see at most `limit` beginnings plus those that were late. For a service that refuses the first call too many, set `perMs` longer than its window by the lateness that you see.',
      '- With both limits, a run first gets its slot, keeps it, and waits for its start. If the start would be after its start deadline, the run expires at once and uses no start.',
      '- Jobs with limits are dispatched no earlier than the usual lead. `rateLimit` works with every target, `concurrencyKey` with handlers and HTTP.',
    ].join('\n'),
  )
}
