/** Test files that do not share a process, and those that take long, by their path below `test` without `.test.ts`. */

/**
 * Files that read metrics of a module, replace modules, timers or the environment, or count on being first in their process. Each has a
 * process of its own. All others share theirs, because to start one and to load the sources takes most of the time of a short file.
 */
export const alone = [
  'access/access',
  'api/{broker,gone-callers}',
  'auditor/audit',
  'cli/commands/default-loggers',
  'executor/priorities',
  'kafka/**/{broker-isolation,commits,heartbeats,log-relay,lone-members}',
  'kafka/**/target-topics',
  'model/**/*',
  // They read the metrics of test/model/cluster/process.ts, which all its simulated processes share.
  'scheduler/**/{answers,group-positions,invalid-positions,open-transactions,other-logs,passed-positions,restores,zone-walk}',
  'system/own-start',
  // Once a process has a tracer, all its records have a trace.
  'targets/traces',
  'testing/virtual-time',
  'tracing/*',
]

/** They wait for most of their time: for sessions and leases that end, for seconds of a schedule, for a page. Longest first. */
export const waiting = [
  'dashboard/dashboard',
  'executor/processes',
  'faults/standby',
  'examples/python-worker',
  'dashboard/job-views',
  'faults/stop-without-brokers',
  'faults/graceful-end',
  'system/missing-handlers',
  'auditor/moving',
  'executor/vanished-runs',
  'faults/clock',
  'faults/random-kills',
  'faults/handover',
  'dashboard/(bulk|run-page)',
  'faults/(stale-reads|zombie|broker-bounce|broken-disk|bad-input)',
  'auditor/role',
  'executor/(worker-deaths|broker)',
  'semantics/.*',
  'targets/.*',
]

/** Other files that take long, and rooms of those that take longer than the rest. */
export const computing = [
  'access/.*',
  'model/cluster/.*',
  'docs/pages',
  'faults/.*',
  'examples/.*',
  'package/.*',
  'operations/.*',
  'docker/.*',
  'backup/.*',
  'model/.*',
  'client/whole-client',
  'api/whole-system',
  'history/.*',
  'demo/demo',
]
