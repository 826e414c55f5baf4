/** Log events of workers, retry forwarders, pauses and executor processes. */
import type { LogEvents } from './log-event.ts'

export const workerEvents = {
  'worker-session-lost': {
    level: 'error',
    fields: 'err pool delayMs',
    repeats: true,
    meaning: 'A worker lost its group session and joins again. Other workers of the pool take its runs meanwhile.',
    action: 'Look at the brokers. One line while they restart needs nothing.',
    alert: 'DuelogLeasesLost',
  },
  'control-session-lost': {
    level: 'error',
    fields: 'err',
    repeats: true,
    meaning: 'A worker does not hear of cancellations and pinned runs until it has joined again.',
    action: 'Look at the brokers. One line while they restart needs nothing.',
  },
  'worker-left-for-clock': {
    level: 'error',
    fields: '',
    meaning: 'The wall clock has not been trusted for long. Runs that were not started are left to other workers of the pool.',
    action: 'Look at the time service of the machine.',
    alert: 'DuelogClockNotTrusted',
  },
  'worker-left-for-pause': {
    level: 'info',
    fields: '',
    meaning: 'The worker is paused. Runs that were not started are left to other workers of the pool.',
  },
  'group-not-left': {
    level: 'warn',
    fields: 'err',
    meaning: 'The group could not be left, so it waits until the session ends (10 s).',
    action: 'Nothing, unless brokers should be reachable: then look at `err`.',
  },
  'handler-missing': {
    level: 'warn',
    fields: 'jobId handler',
    meaning: 'A run came to a worker that has no such handler. It is logged once for each handler.',
    action: 'Give the worker the handler, or a pool of its own.',
    alert: 'DuelogRunsWithoutHandler',
  },
  'handlers-not-announced': {
    level: 'warn',
    fields: 'pool',
    meaning: 'The brokers cannot keep the group of the pool, so this worker announces its handlers no more.',
    action: 'Give some handlers a pool of their own, then start the worker again.',
  },
  'hook-failed': {
    level: 'warn',
    fields: 'err executionId attempt',
    meaning: 'A hook of the worker failed after the run. The outcome of the run stays.',
    action: 'Correct the hook.',
  },
  'reports-not-sent': {
    level: 'warn',
    fields: 'err events',
    repeats: true,
    meaning: 'Reports of runs could not be sent. They are sent again.',
    action: 'Look at the brokers. After `leaseMs` without reports the owner gives an attempt up.',
    alert: 'DuelogLeasesLost',
  },
  'run-lines-lost': {
    level: 'warn',
    fields: 'err lines',
    meaning: 'The brokers did not take lines of `run.log`. Runs are not affected.',
    action: 'Check that the topic `run-logs` exists and that this worker may write to it.',
    alert: 'DuelogRunLogLinesLost',
  },
  'offsets-not-committed': {
    level: 'debug',
    fields: 'err',
    meaning: 'Offsets could not be committed. The next commit includes them.',
  },
  'offsets-not-read': {
    level: 'debug',
    fields: 'err',
    meaning:
      'A worker could not read whether the last readers of its partitions left or died. It takes them for dead, so runs that it reads again start with more care.',
  },
  'partitions-orphaned': {
    level: 'info',
    fields: 'pool partitions',
    meaning:
      'The last workers of these partitions did not say that they left, so they may have died, or there were none. What they may have started starts one by one at first.',
  },
  'workers-of-name-unknown': {
    level: 'warn',
    fields: 'err',
    meaning: 'Other workers of the same name could not be found, so this worker takes the pinned run.',
    action: 'Nothing, unless it repeats: then look at `err`.',
  },
  'run-logged': {
    level: 'info',
    fields: 'scheduledFor payload',
    meaning: 'The built-in handler `log` has run.',
  },
  'retrier-left-for-clock': {
    level: 'error',
    fields: '',
    meaning: 'The wall clock has not been trusted for long. Retries are left to other forwarders.',
    action: 'Look at the time service of the machine.',
    alert: 'DuelogClockNotTrusted',
  },
  'retrier-session-lost': {
    level: 'error',
    fields: 'err delayMs',
    repeats: true,
    meaning: 'A retry forwarder lost its group session and joins again.',
    action: 'Look at the brokers. One line while they restart needs nothing.',
  },
  'retries-not-forwarded': {
    level: 'warn',
    fields: 'topic partition err',
    repeats: true,
    meaning: 'Attempts whose delay is over could not be reported. They are reported again.',
    action: 'Look at the brokers.',
  },
  'retry-position-not-committed': {
    level: 'debug',
    fields: 'topic partition offset err',
    meaning: 'The position of retries could not be committed. The next commit includes it.',
  },
  'pauses-not-read-yet': {
    level: 'warn',
    fields: '',
    meaning: 'The topic `pauses` has not been read in time. Until it is, no pool and no worker counts as paused.',
    action: 'Look at the brokers and at the right to read the topic.',
  },
  'pauses-not-readable': {
    level: 'warn',
    fields: 'err topic',
    meaning: '`pauses` cannot be read, so pools and workers stay paused or not as they were.',
    action: 'Look at the brokers and at the right to read the topic.',
  },
  'pause-record-skipped': {
    level: 'error',
    fields: 'topic partition offset',
    meaning: 'A record of `pauses` cannot be read and is skipped.',
    action: 'Only Duelog writes this topic: find the other writer. Pause or resume again.',
    alert: 'DuelogRecordsInvalid',
  },
  'pause-changed': {
    level: 'info',
    fields: 'pool? worker? actor',
    meaning: 'A pool or a worker was paused, drained or resumed, by `actor`.',
  },
  'executor-processes-changed': {
    level: 'info',
    fields: 'from to reason pool backlog forecast lateMs running workers',
    meaning: 'Executor processes are started or stopped to follow the load.',
  },
  'pools-not-measured': {
    level: 'warn',
    fields: 'pools leftOut',
    meaning: 'There are more than 1,000 pools. Those beyond have no metric of their load, and nobody scales them by it.',
    action: 'Use fewer pools. Groups of pools that are no longer used count too: delete them.',
  },
  'load-unknown': {
    level: 'debug',
    fields: 'err',
    meaning: 'The load of the pools is unknown. Executor processes stay as they are, and the metrics have a gap.',
  },
} as const satisfies LogEvents
