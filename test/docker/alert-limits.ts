/**
 * When each alert begins and ends: series just at a limit and just above it, and from which second to which each must raise its alert.
 * `alertTimelines` makes tests for promtool of them. So a test fails when a number or a comparison of a rule changes a little.
 */

/** Value of a series at a second; undefined: there is no sample. */
type Values = (second: number) => number | undefined

interface Timeline {
  alert: string
  /** What the series shows. */
  what: string
  /** By the name of a metric with its labels; job and instance are added. */
  series: Record<string, Values>
  /** First and last second of the alert, after rounding. Absent: it is never raised. Without a last one it stays. */
  raised?: readonly [from: number, to?: number]
  /** Labels of the alert besides job and severity. */
  labels?: Record<string, string>
}

const minute = 60
const hour = 3_600

// Gauges.
const always =
  (value: number): Values =>
  () =>
    value
const until =
  (end: number, before: number, after: number): Values =>
  (second) =>
    second < end ? before : after
/** It begins to exist then. */
const born =
  (begin: number, value: number): Values =>
  (second) =>
    second < begin ? undefined : value

// Counters.
const growing =
  (perSecond: number): Values =>
  (second) =>
    second * perSecond
const growingUntil =
  (end: number, before: number, after = 0): Values =>
  (second) =>
    Math.min(second, end) * before + Math.max(0, second - end) * after

/** A gauge that is above its limit from the beginning, and one that is at it. */
function gauge(
  alert: string,
  name: string,
  { at, above, waits, labels }: { at: number; above: number; waits: number; labels?: Record<string, string> },
): Timeline[] {
  return [
    { alert, what: `${above}`, series: { [name]: always(above) }, raised: [waits], ...(labels && { labels }) },
    { alert, what: `${at}`, series: { [name]: always(at) } },
  ]
}

/** A counter that has begun with 0: steps of `most` raise nothing, and steps of one more do, for as long as the window. */
function steps(alert: string, name: string, window: number, most: number, labels: Record<string, string> = {}): Timeline[] {
  const end = window + 5 * minute
  return [
    { alert, what: `${most + 1} more`, series: { [name]: until(end, 0, most + 1) }, raised: [end, end + window], labels },
    { alert, what: `${most} more`, series: { [name]: until(end, 0, most) } },
  ]
}

/** A counter that begins with its first count. */
function births(alert: string, name: string, window: number, most: number, labels: Record<string, string> = {}): Timeline[] {
  // Not at the end of a window of a counter that has begun with 0.
  const begin = 6 * minute
  return [
    { alert, what: `born with ${most + 1}`, series: { [name]: born(begin, most + 1) }, raised: [begin, begin + window], labels },
    { alert, what: `born with ${most}`, series: { [name]: born(begin, most) } },
  ]
}

/** The 99th percentile. What is above the limit is 1 % above it, until it stops. */
function percentile(
  alert: string,
  metric: string,
  limit: number,
  waits: number,
  labels: Record<string, string> = {},
): Timeline[] {
  const own = Object.entries(labels).map(([name, value]) => `${name}="${value}",`)
  const bucket = (le: number | string): string => `${metric}_bucket{${own.join('')}le="${le}"}`
  const end = 20 * minute
  const buckets = (above: number, stops = Number.POSITIVE_INFINITY): Record<string, Values> => ({
    [bucket(limit / 2)]: growing(0),
    [bucket(limit)]: growingUntil(stops, 10 * (1 - above), 10),
    [bucket(limit * 1.01)]: growing(10),
    [bucket('+Inf')]: growing(10),
  })
  // Of what is beyond all buckets, only the last bound is known.
  const beyond = { [bucket(limit / 2)]: growing(0), [bucket(limit)]: growing(9), [bucket('+Inf')]: growing(10) }
  // A rate needs two samples.
  const from = sample + waits
  return [
    { alert, what: '1.5 % above', series: buckets(0.015), raised: [from], labels },
    { alert, what: '0.5 % above', series: buckets(0.005) },
    { alert, what: 'at the limit', series: beyond },
    // 200 s later, one third of them is in the window of five minutes: 1 %.
    { alert, what: '3 % above, which stop', series: buckets(0.03, end), raised: [from, end + 210], labels },
  ]
}

/** Time between two samples, and between two evaluations. */
const sample = 15

const quick: Timeline[] = [
  ...gauge('DuelogProcessDown', 'up', { at: 1, above: 0, waits: 2 * minute, labels: { instance: 'a:8080' } }),
  ...gauge('DuelogNoScheduler', 'duelog_partitions', { at: 1, above: 0, waits: 2 * minute }).map((each) =>
    // A partition without an owner is another alert.
    each.raised ? each : { ...each, series: { ...each.series, 'duelog_partition_active{partition="0"}': always(1) } },
  ),
  ...[0, 1].map(
    (lacking): Timeline => ({
      alert: 'DuelogPartitionsWithoutOwner',
      what: `${lacking} of 3 lack an owner`,
      series: {
        duelog_partitions: always(3),
        ...Object.fromEntries(
          [0, 1, 2].map((each) => [`duelog_partition_active{partition="${each}"}`, always(each < lacking ? 0 : 1)]),
        ),
      },
      ...(lacking > 0 && { raised: [minute] as const }),
    }),
  ),
  { alert: 'DuelogPartitionsWithoutOwner', what: 'nobody owns any', series: { duelog_partitions: always(1) }, raised: [minute] },
  ...gauge('DuelogTimersOverdue', 'duelog_timers_overdue{partition="3"}', {
    ...{ at: 0, above: 1, waits: 2 * minute, labels: { partition: '3' } },
  }),
  ...percentile('DuelogDispatchLate', 'duelog_due_to_commit_seconds', 5, 5 * minute),
  ...percentile('DuelogTargetsLate', 'duelog_target_lateness_seconds', 5, 5 * minute),
  ...percentile('DuelogStartsLate', 'duelog_start_lateness_seconds', 5, 5 * minute, { pool: 'mail' }),
  ...percentile('DuelogCommitsSlow', 'duelog_commit_seconds', 1, 10 * minute),
  ...steps('DuelogCommitsFailing', 'duelog_reopens_total{reason="x"}', 15 * minute, 3, { reason: 'x' }),
  ...births('DuelogCommitsFailing', 'duelog_reopens_total{reason="x"}', 15 * minute, 3, { reason: 'x' }),
  ...gauge('DuelogInputBehind', 'duelog_input_lag_records{topic="t",partition="1"}', {
    ...{ at: 10_000, above: 10_001, waits: 10 * minute, labels: { topic: 't', partition: '1' } },
  }),
  ...gauge('DuelogTransactionOpen', 'duelog_open_transaction_seconds{topic="t",partition="1"}', {
    ...{ at: 120, above: 121, waits: 0, labels: { topic: 't', partition: '1' } },
  }),
  ...gauge('DuelogStandbyBehind', 'duelog_standby_behind_records{partition="1"}', {
    ...{ at: 1_000, above: 1_001, waits: 15 * minute, labels: { instance: 'a:8080', partition: '1' } },
  }),
  ...gauge('DuelogSchedulerWithdrawn', 'duelog_withdrawn', { at: 0, above: 1, waits: minute, labels: { instance: 'a:8080' } }),
  ...gauge('DuelogClockNotTrusted', 'duelog_clock_trusted', { at: 1, above: 0, waits: 30, labels: { instance: 'a:8080' } }),
  ...[0.505, -0.505].flatMap((above) =>
    gauge('DuelogClockOffset', 'duelog_clock_offset_seconds', {
      ...{ at: Math.sign(above) * 0.5, above, waits: 5 * minute, labels: { instance: 'a:8080' } },
    }),
  ),
  ...backlogs(),
  ...idlePools(),
  ...gauge('DuelogRunsWithoutHandler', 'duelog_runs_without_handler{partition="1"}', { at: 0, above: 1, waits: 5 * minute }),
  ...steps('DuelogDeadLettersGrowing', 'duelog_dlq_total', 15 * minute, 0),
  ...failures(),
  ...steps('DuelogLeasesLost', 'duelog_leases_lost_total', 15 * minute, 5),
  ...[steps, births].flatMap((of) => [
    ...of('DuelogRecordsInvalid', 'duelog_invalid_total{reason="x"}', 15 * minute, 0, { reason: 'x' }),
    ...of('DuelogRunLogLinesLost', 'duelog_run_log_lines_total{pool="mail",outcome="lost"}', 15 * minute, 0, { pool: 'mail' }),
  ]),
  ...gauge('DuelogFaultFound', 'duelog_audit_faults_unacknowledged{kind="x"}', {
    ...{ at: 0, above: 1, waits: 0 },
    labels: { kind: 'x' },
  }),
  ...steps('DuelogFaultFound', 'duelog_timers_rearmed_total', 10 * minute, 0),
  ...gauge('DuelogProofBehind', 'duelog_audit_oldest_unjudged_seconds', { at: 300, above: 301, waits: 5 * minute }),
  ...gauge('DuelogHistoryProblem', 'duelog_history_problem', {
    at: 0,
    above: 1,
    waits: 5 * minute,
    labels: { instance: 'a:8080' },
  }),
  ...gauge('DuelogHistoryBehind', 'duelog_history_behind_records', {
    ...{ at: 100_000, above: 100_001, waits: 15 * minute, labels: { instance: 'a:8080' } },
  }),
  ...gauge('DuelogEventLoopBlocked', 'nodejs_eventloop_lag_p99_seconds', {
    ...{ at: 0.5, above: 0.505, waits: 10 * minute, labels: { instance: 'a:8080' } },
  }),
  ...throttles(),
]

/** Dispatched runs, and attempts that end at ten a second. */
function backlogs(): Timeline[] {
  const runs = 'duelog_pool_runs{pool="mail",state="dispatched"}'
  const attempts = 'duelog_attempts_total{pool="mail",outcome="succeeded"}'
  const row = { alert: 'DuelogPoolBacklog', labels: { pool: 'mail' } }
  // Without it, another alert would be raised too.
  const busy = { 'duelog_pool_runs{pool="mail",state="running"}': always(1) }
  const end = 15 * minute
  return [
    { ...row, what: '101 runs and no attempt', series: { ...busy, [runs]: always(101) }, raised: [5 * minute] },
    { ...row, what: '100 runs and no attempt', series: { ...busy, [runs]: always(100) } },
    // A minute of work: 600.
    {
      ...row,
      what: 'more than a minute of work',
      series: { ...busy, [runs]: always(601), [attempts]: growing(10) },
      raised: [5 * minute],
    },
    { ...row, what: 'a minute of work', series: { ...busy, [runs]: until(5 * minute, 0, 600), [attempts]: growing(10) } },
    // Half of the five minutes later, 301 runs are more than a minute of work.
    {
      ...{ ...row, what: 'attempts that stop', raised: [end + 2.5 * minute + 5 * minute] },
      series: { ...busy, [runs]: until(5 * minute, 0, 301), [attempts]: growingUntil(end, 10) },
    },
  ]
}

/** Dispatched runs whose workers are idle. */
function idlePools(): Timeline[] {
  const runs = 'duelog_pool_runs{pool="mail",state="dispatched"}'
  const running = 'duelog_pool_runs{pool="mail",state="running"}'
  const attempts = 'duelog_attempts_total{pool="mail",outcome="succeeded"}'
  const row = { alert: 'DuelogPoolWithoutWorkers', labels: { pool: 'mail' } }
  const end = 10 * minute
  // The last sample that counts leaves the window of five minutes, and the alert waits for five more.
  const over = end + 10 * minute
  return [
    { ...row, what: 'one run waits', series: { [runs]: always(1) }, raised: [5 * minute] },
    { ...row, what: 'no run waits', series: { [runs]: always(0) } },
    {
      ...row,
      what: 'a worker that stops',
      series: { [runs]: always(1), [running]: until(end + sample, 1, 0) },
      raised: [over + sample],
    },
    {
      ...{ ...row, what: 'a worker that has a run for half a minute in four' },
      series: { [runs]: always(1), [running]: (second) => (second % 240 >= 30 && second % 240 < 60 ? 1 : 0) },
    },
    // One attempt in 15 s.
    {
      ...row,
      what: 'attempts that stop',
      series: { [runs]: always(1), [attempts]: growingUntil(end, 1 / sample) },
      raised: [over],
    },
  ]
}

/** Attempts that fail, and attempts that succeed. */
function failures(): Timeline[] {
  const of = (outcome: string): string => `duelog_attempts_total{pool="mail",outcome="${outcome}"}`
  const row = { alert: 'DuelogAttemptsFailing', labels: { pool: 'mail' } }
  const end = 20 * minute
  const both = (failed: Values, succeeded: Values) => ({ [of('failed')]: failed, [of('succeeded')]: succeeded })
  return [
    { ...row, what: '50.5 %', series: both(growing(101), growing(99)), raised: [sample + 5 * minute] },
    { ...row, what: '50 %', series: both(growing(100), growing(100)) },
    // Half of the ten minutes later, half of the attempts have failed.
    {
      ...{ ...row, what: 'from then on all fail', raised: [end + 5 * minute + sample + 5 * minute] },
      series: both(growingUntil(end, 0, 10), growingUntil(end, 10)),
    },
    // Two thirds of the ten minutes later, as many have failed as succeeded.
    {
      ...{ ...row, what: 'those that succeed stop', raised: [end + 405 + 5 * minute] },
      series: both(growing(10), growingUntil(end, 30)),
    },
  ]
}

/** Seconds of throttling in a second. */
function throttles(): Timeline[] {
  const name = 'duelog_kafka_throttled_seconds_total'
  const row = { alert: 'DuelogThrottled', labels: { instance: 'a:8080' } }
  const end = 20 * minute
  return [
    { ...row, what: 'a tenth', series: { [name]: (second) => (second / sample) * 1.5 } },
    // Each rate of the first five minutes is less.
    { ...row, what: '1 % more', series: { [name]: growing(0.101) }, raised: [5 * minute + 10 * minute] },
    // Half of the five minutes later it is a tenth.
    {
      ...row,
      what: 'a fifth that ends',
      series: { [name]: growingUntil(end, 0.2) },
      raised: [12.5 * minute + sample, end + 2.5 * minute],
    },
  ]
}

/** Windows of half an hour and more. */
const slow: Timeline[] = [
  ...[steps, births].flatMap((of) => [
    ...of('DuelogPositionsReset', 'duelog_positions_reset_total{topic="t",reason="x"}', hour, 0, { topic: 't', reason: 'x' }),
    ...of('DuelogExecutorProcessEnds', 'duelog_executor_process_ends_total{end="x"}', 30 * minute, 2, {
      ...{ instance: 'a:8080', end: 'x' },
    }),
  ]),
  ...gauge('DuelogRunsInPausedPools', 'duelog_runs_in_paused_pools{partition="1"}', { at: 0, above: 1, waits: hour }),
  ...steps('DuelogCannotJudge', 'duelog_audit_unjudged_total{reason="x"}', hour, 0, { reason: 'x' }),
  ...steps('DuelogAuditTrailLost', 'duelog_audit_lost_total', hour, 0),
  // Of all, of the engine as the front shows it, and of a worker, whose number may be used again.
  ...['', '{process="scheduler"}', '{process="executor-1"}'].flatMap((process) =>
    [2, 3].map(
      (restarts): Timeline => ({
        ...{ alert: 'DuelogProcessRestarts', what: `${restarts} restarts ${process}`, labels: { instance: 'a:8080' } },
        series: {
          [`process_start_time_seconds${process}`]: (second) => Math.min(restarts, Math.max(0, Math.floor(second / minute) - 9)),
        },
        // The first one leaves the window.
        ...(restarts > 2 && !process.includes('executor') && { raised: [12 * minute, 40 * minute] as const }),
      }),
    ),
  ),
]

/** Without any series: no process answers, of no job. */
const nobody = { alertname: 'DuelogNoScheduler', exp_labels: { severity: 'critical' } }
const nobodyAnswers = {
  interval: `${sample}s`,
  input_series: [],
  alert_rule_test: [
    { eval_time: '105s', alertname: nobody.alertname, exp_alerts: [] },
    { eval_time: '120s', alertname: nobody.alertname, exp_alerts: [{ exp_labels: nobody.exp_labels }] },
  ],
}

interface Rule {
  alert: string
  labels: Record<string, string>
}
type Group = { name: string; rules: Rule[] }

const parts = [
  { name: 'minutes', timelines: quick, step: sample, lasts: 42 * minute },
  { name: 'hours', timelines: slow, step: minute, lasts: 132 * minute },
]

/** Names of the alerts that have timelines. */
export const timedAlerts = [...new Set([...quick, ...slow].map(({ alert }) => alert))]

/** Files for promtool, by their names: the rules without their annotations, and tests of when each is raised. */
export function alertTimelines(groups: readonly Group[]): Record<string, unknown> {
  const files: Record<string, unknown> = {}
  for (const { name, timelines, step, lasts } of parts) {
    const alerts = new Set(timelines.map(({ alert }) => alert))
    const mine = groups.map((group) => ({
      ...group,
      rules: group.rules.filter(({ alert }) => alerts.has(alert)).map(({ ...rule }) => ({ ...rule, annotations: {} })),
    }))
    files[`${name}.rules.yaml`] = { groups: mine }
    files[`${name}.test.yaml`] = {
      rule_files: [`${name}.rules.yaml`],
      evaluation_interval: `${step}s`,
      tests: [testOf(timelines, groups, step, lasts), ...(alerts.has(nobody.alertname) ? [nobodyAnswers] : [])],
    }
  }
  return files
}

function testOf(timelines: readonly Timeline[], groups: readonly Group[], step: number, lasts: number) {
  const seconds = Array.from({ length: lasts / step + 1 }, (_, at) => at * step)
  const jobs = new Map(timelines.map((timeline, at) => [timeline, `duelog-${at}`]))
  const severities = new Map(groups.flatMap(({ rules }) => rules).map(({ alert, labels }) => [alert, labels.severity]))
  const inputSeries = timelines.flatMap((timeline) =>
    Object.entries(timeline.series).map(([series, values]) => ({
      series: withPlace(series, jobs.get(timeline) ?? ''),
      values: seconds.map((second) => values(second) ?? '_').join(' '),
    })),
  )
  const alertRuleTest = [...Map.groupBy(timelines, ({ alert }) => alert)].flatMap(([alert, mine]) =>
    looksOf(mine, step, lasts).map((look) => ({
      ...{ eval_time: `${look}s`, alertname: alert },
      exp_alerts: mine.flatMap((timeline) => {
        const [from = Number.POSITIVE_INFINITY, to = Number.POSITIVE_INFINITY] = timeline.raised ?? []
        if (look < from || look > to) return []
        return [{ exp_labels: { ...timeline.labels, severity: severities.get(alert), job: jobs.get(timeline) } }]
      }),
    })),
  )
  return { interval: `${step}s`, input_series: inputSeries, alert_rule_test: alertRuleTest }
}

/** The evaluations before and at the first second, and those around the last one, without the one that is on the edge of a window. */
function looksOf(timelines: readonly Timeline[], step: number, lasts: number): number[] {
  const edges = timelines.flatMap(({ raised }) => {
    if (raised === undefined) return []
    const [from, to] = raised
    return [from - step, from, ...(to === undefined ? [] : [to - step, to + step])]
  })
  return [...new Set([...edges, lasts])].filter((second) => second >= 0).sort((a, b) => a - b)
}

function withPlace(series: string, job: string): string {
  const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? []
  return `${name}{${[`job="${job}"`, 'instance="a:8080"', ...(labels === '' ? [] : [labels])].join(',')}}`
}
