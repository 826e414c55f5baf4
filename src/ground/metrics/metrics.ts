/** Every metric of the process, in one registry; names as in docs/METRICS.md. Times are in seconds, as Prometheus expects. */
import { type Aggregator, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { MetricsSource } from './exposition.ts'

const latenessBuckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60]

/** Each bucket is 25 % above the last, from 1 ms to about a day: fine enough for percentiles, and the latest start of an outage is in one. */
const reportedBuckets = Array.from({ length: 84 }, (_, index) => Number((0.001 * 1.25 ** index).toPrecision(3)))
function makersIn(registry: Registry) {
  const registers = [registry]
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name: `duelog_${name}`, help, labelNames, registers }),
    /** `aggregator`: what one value is made of those of a process and its executor processes. */
    gauge: (name: string, help: string, labelNames: string[] = [], aggregator: Aggregator = 'sum') =>
      new Gauge({ name: `duelog_${name}`, help, labelNames, aggregator, registers }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ name: `duelog_${name}`, help, buckets, labelNames, registers }),
  }
}

/** A fresh set, so that two systems in one process do not share counts. `ofProcess`: with memory, processor time and the like. */
export function newMetrics({ ofProcess = true } = {}) {
  const registry = new Registry()
  // Wakes the process for each sample, in ms. The default of 10 takes two thirds of a percent of a core, a quarter of an idle process.
  if (ofProcess) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 })
  const { counter, gauge, histogram } = makersIn(registry)
  return {
    registry,
    /** Processes whose metrics are shown with these. */
    sources: new Set<MetricsSource>(),
    startLateness: histogram(
      'start_lateness_seconds',
      'Time from the due time of an attempt to the start of its handler.',
      latenessBuckets,
      ['pool'],
    ),
    reportedLateness: histogram('reported_lateness_seconds', 'Start lateness that workers report to owners.', reportedBuckets),
    dueToCommit: histogram(
      'due_to_commit_seconds',
      'Time from the due time of an attempt to the commit of its dispatch. A negative time counts in the first bucket.',
      latenessBuckets,
    ),
    commit: histogram('commit_seconds', 'Duration of a partition transaction.', latenessBuckets),
    commitBatch: histogram('commit_batch_size', 'Records in a partition transaction.', [1, 5, 10, 50, 100, 500, 1000, 5000]),
    partitions: gauge('partitions', 'Partitions of the system, from each process with the role scheduler; 0 from others.'),
    partitionActive: gauge(
      'partition_active',
      'Whether this process fires the timers of the partition: 1 or 0. The sum over all processes is 1 while the partition has an owner.',
      ['partition'],
    ),
    storeBytes: gauge(
      'store_bytes',
      'Size of the RocksDB store of the partition in this process: tables, blob files and what is not yet written to them.',
      ['partition'],
    ),
    timersOverdue: gauge('timers_overdue', 'Whether timers of the partition are due and not yet handed out: 1 or 0.', [
      'partition',
    ]),
    timersRearmed: counter(
      'timers_rearmed_total',
      'Timers that were lost and that the sweeper has set again. It stays 0. Any other value is a fault of Duelog.',
    ),
    inputLag: gauge(
      'input_lag_records',
      'Records of an input topic that its owner has not applied yet. The ends of transactions count too, as in the lag of a consumer group.',
      ['topic', 'partition'],
    ),
    mailboxDepth: gauge('mailbox_depth', 'Records read and not yet applied.', ['partition']),
    runsWithoutHandler: gauge('runs_without_handler', 'Runs that wait because no worker of their pool has their handler.', [
      'partition',
    ]),
    runsInPausedPools: gauge('runs_in_paused_pools', 'Runs that wait until their pool is resumed.', ['partition']),
    poolPaused: gauge('pool_paused', '1 while the pool is paused or drained; 0 after it was resumed.', ['pool'], 'max'),
    poolRuns: gauge(
      'pool_runs',
      'Active runs of the pool in the partitions that this process owns, by state: waiting (for a limit, a retry, a handler or a paused pool), dispatched (no worker has started them) and running.',
      ['pool', 'state'],
    ),
    poolWorkers: gauge(
      'pool_workers',
      'Workers of the pool when an owner in this process last looked them up. Owners do so while they dispatch runs to it. Absent when that was more than 5 minutes ago.',
      ['pool'],
    ),
    poolWorkersWanted: gauge(
      'pool_workers_wanted',
      'Workers that the pool needs for its load, from 0 on; processes with the role api show it, also while the pool has no worker. Measured when metrics are read; absent while the brokers do not answer, and for pools beyond the first 1,000.',
      ['pool'],
    ),
    poolBacklog: gauge(
      'pool_backlog',
      'Runs of the pool that wait for a worker, without those that a batch gathers. The ends of transactions count too, as in the lag of a consumer group. Shown as pool_workers_wanted is.',
      ['pool'],
    ),
    poolForecast: gauge('pool_forecast', 'Runs of the pool that come due within 30 seconds. Shown as pool_workers_wanted is.', [
      'pool',
    ]),
    restoreRemaining: gauge('restore_remaining', 'Records still to be read before the partition can fire.', ['partition']),
    standbyBehind: gauge(
      'standby_behind_records',
      'Records of the logs that the standby of this process lacks; 0 if it is no standby of the partition.',
      ['partition'],
    ),
    positionsReset: counter(
      'positions_reset_total',
      'Positions outside their log, because it was truncated, created again, or expired before it was read. Reading continued at its beginning.',
      ['topic', 'reason'],
    ),
    openTransaction: gauge(
      'open_transaction_seconds',
      'Age of an open transaction that blocks all readers of this topic; absent or 0 while none has been open for a minute.',
      ['topic', 'partition'],
    ),
    reopens: counter('reopens_total', 'Partitions reopened after a producer error.', ['reason']),
    fenced: counter('fenced_total', 'Partitions lost to a later owner.'),
    peersHeard: gauge(
      'peers_heard',
      'Processes that this one watches and has heard within 2 s. The death of others is noticed when their session ends.',
    ),
    peersRemoved: counter(
      'peers_removed_total',
      'Processes that this one found dead and removed from their groups: their connections were refused, they were silent, or no broker answered them.',
      ['reason'],
    ),
    withdrawn: gauge('withdrawn', 'Whether this process lets others fire because its local stores fail permanently: 1 or 0.'),
    diskFree: gauge('data_disk_free_bytes', 'Free space of the disk with the data folder.', [], 'max'),
    tzInfo: gauge('tz_info', 'Time zone rules of this process, and the version of ICU; always 1.', ['version', 'icu'], 'max'),
    zoneRulesDiffer: gauge(
      'zone_rules_differ',
      'Whether the partition was claimed under other time zone rules than those of this process: 1 or 0.',
      ['partition'],
    ),
    zoneWalk: gauge(
      'zone_walk',
      'Whether the jobs of the partition are being checked, because time zone rules have changed: 1 or 0.',
      ['partition'],
    ),
    zoneChecked: counter('zone_jobs_checked_total', 'Jobs that were checked after a change of time zone rules.'),
    zoneMoved: counter('zone_fires_moved_total', 'Jobs whose next time moved because of a change of time zone rules.'),
    clockSteps: counter('clock_step_total', 'Steps of the wall clock by more than DUELOG_CLOCK_STEP_MS_MAX.'),
    clockTrusted: gauge(
      'clock_trusted',
      'Whether the wall clock agrees with the steady clock and the brokers: 1 or 0. While it is 0, nothing is decided. 0 also if the clock of an executor process disagrees.',
      [],
      'min',
    ),
    clockOffset: gauge(
      'clock_offset_seconds',
      'Wall clock of this process minus the clock of the broker that gave the time last.',
      [],
      'average',
    ),
    leasesLost: counter('leases_lost_total', 'Attempts given up because their worker fell silent.'),
    retryTierLag: gauge(
      'retry_tier_lag_seconds',
      'How late the first retry of the tier is that this process has read and not forwarded; 0 if none is late.',
      ['tier'],
    ),
    deadLetters: counter('dlq_total', 'Runs that became dead letters.'),
    misrouted: counter(
      'misrouted_total',
      'Records moved to the partition of their job, because a client used another partitioner or one that ignores tags.',
    ),
    invalid: counter('invalid_total', 'Records that could not be applied.', ['reason']),
    definitions: counter('definitions_total', 'Definitions applied.'),
    dispatched: counter('dispatched_total', 'Attempts dispatched.', ['pool']),
    targetRecords: counter('target_records_total', 'Records written to target topics. Each record is a run.', ['topic']),
    targetLateness: histogram(
      'target_lateness_seconds',
      'Time from the nominal time of a run to the commit of its record in a target topic.',
      latenessBuckets,
    ),
    receipts: counter('receipts_total', 'Receipts sent.', ['outcome']),
    receiptsDropped: counter(
      'receipts_dropped_total',
      'Receipts that could not be sent: their topic is not allowed or missing, or a header of the request is too long.',
    ),
    foreign: counter('foreign_schedules_total', 'Records of other schedulers that were read.', ['source', 'outcome']),
    retries: counter('retries_total', 'Failed attempts that are retried.'),
    skipped: counter('skipped_total', 'Occurrences skipped.', ['reason']),
    runs: counter('runs_total', 'Runs ended.', ['status']),
    attempts: counter('attempts_total', 'Attempts ended in this process.', ['pool', 'outcome']),
    runLogLines: counter(
      'run_log_lines_total',
      'Lines that handlers wrote with run.log: written to the topic, over a limit, or lost because the brokers did not take them.',
      ['pool', 'outcome'],
    ),
    executorEnds: counter(
      'executor_process_ends_total',
      'Executor processes of this process that ended unexpectedly and were started again.',
      ['end'],
    ),
    executors: gauge('executor_processes', 'Executor processes of this process that run, or finish their handlers.', ['state']),
    executorsWanted: gauge(
      'executor_processes_wanted',
      'Executor processes that the load needs, within the limits of DUELOG_EXECUTOR_PROCESSES.',
    ),
    executorChanges: counter(
      'executor_process_changes_total',
      'Times that the number of executor processes followed the load, up or down.',
      ['direction'],
    ),
    auditLost: counter('audit_lost_total', 'Records of the audit trail that only the log of the process has.'),
    auditFindings: counter(
      'audit_findings_total',
      'Faults that the auditor found in the log, by kind. It stays 0. Any other value is a fault of Duelog or of a clock.',
      ['kind'],
    ),
    auditUnacknowledged: gauge(
      'audit_faults_unacknowledged',
      'Faults that the auditor found and nobody has acknowledged, by kind. It is kept with the accounts of the auditor, so a restart does not change it.',
      ['kind'],
    ),
    auditUnjudged: counter(
      'audit_unjudged_total',
      'Runs and times that the auditor cannot judge, because there are too many or the log no longer has their records.',
      ['reason'],
    ),
    auditRuns: counter('audit_runs_total', 'Runs that the auditor has judged.'),
    auditOccurrences: counter('audit_occurrences_total', 'Nominal times that the auditor has compared with the calendar.'),
    auditRecords: counter('audit_records_total', 'Records that the auditor has read.'),
    auditUnreadable: counter('audit_unreadable_total', 'Records that the auditor could not read.'),
    auditLag: gauge('audit_behind_records', 'Records of the log that the auditor has not read yet.'),
    auditAge: gauge('audit_oldest_unjudged_seconds', 'Age of the oldest time that the auditor has not judged yet.'),
    historyRuns: counter('history_runs_total', 'Ended runs that this process has written to the history.'),
    historyLag: gauge(
      'history_behind_records',
      'Records of the topic runs that are not in the history yet, of the partitions that this process reads. Measured every 30 s.',
    ),
    historyProblem: gauge(
      'history_problem',
      'Whether ended runs cannot be written to the history at present: 1 or 0.',
      [],
      'max',
    ),
    running: gauge('running', 'Handlers that run now.', ['pool']),
    kafkaThrottled: counter(
      'kafka_throttled_seconds_total',
      'Time for which brokers told this process to send nothing, because a quota is used up. The times of all connections add up.',
    ),
    refused: counter('refused_total', 'Commands that were not carried out, and follow-ups that were not triggered.', [
      'what',
      'reason',
    ]),
    shortened: counter('shortened_total', 'Times that something was over a limit and left out, while the rest was taken.', [
      'what',
    ]),
    waits: counter('limit_waits_total', 'Attempts that a limit did not let go at once.', ['reason']),
    staleEvents: counter('stale_events_total', 'Events of attempts that are no longer current.', ['type']),
  }
}
export type Metrics = ReturnType<typeof newMetrics>

/** Metrics that count nothing, for systems whose counts nobody reads. */
export function silentMetrics(): Metrics {
  const metrics = newMetrics({ ofProcess: false })
  const nothing = (): void => {}
  const silent = { inc: nothing, dec: nothing, set: nothing, observe: nothing }
  for (const metric of Object.values(metrics))
    if (metric instanceof Counter || metric instanceof Gauge || metric instanceof Histogram)
      Object.assign(metric, silent, { labels: () => silent })
  return metrics
}
