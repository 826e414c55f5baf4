/** Log events of a process: its start and stop, its clock, its data folder and its children. */
import type { LogEvents } from './log-event.ts'

export const processEvents = {
  'start-topics-checked': { level: 'info', fields: 'partitions', meaning: 'Step 1 of a start: the topics are there.' },
  'start-schemas-known': { level: 'info', fields: 'registryUrl', meaning: 'Step 2 of a start: the schema ids are known.' },
  'start-groups-joined': {
    level: 'info',
    fields: 'roles',
    meaning: 'Step 3 of a start: workers and forwarders have joined their groups.',
  },
  'start-http-served': { level: 'info', fields: 'url', meaning: 'Step 4 of a start: HTTP is served.' },
  'system-ready': {
    level: 'info',
    fields: 'url brokers registryUrl registryAnswered partitions',
    meaning: 'The start is complete: all partitions of this process fire.',
  },
  'child-process-ready': {
    level: 'info',
    fields: 'url instance roles',
    meaning: 'The front or an executor process runs its roles.',
  },
  'partitions-not-ready': {
    level: 'warn',
    fields: 'err',
    meaning: 'The process ends before all its partitions fired.',
    action: 'Nothing if it was stopped; otherwise look at `err`.',
  },
  'process-failed': {
    level: 'fatal',
    fields: 'err',
    meaning: 'The process cannot go on and ends.',
    action: '`err` says what to do. Others take over its partitions and runs.',
    alert: 'DuelogProcessDown',
  },
  'stop-without-brokers': {
    level: 'warn',
    fields: '',
    meaning: 'No broker answers, so the stop waits for them for 5 s at most. The next process does what is not committed.',
    action: 'Look at the brokers.',
  },
  'stop-step-failed': {
    level: 'warn',
    fields: 'err',
    meaning: 'A part did not stop cleanly. Nothing is lost.',
    action: 'Nothing, unless it comes with each stop: then look at `err`.',
  },
  'clock-not-trusted': {
    level: 'error',
    fields: 'offsetMs reason disagreeing',
    meaning:
      'The wall clock of this machine made a step, or brokers disagree with it. Nothing is decided by it until it agrees again.',
    action: 'Look at the time service of the machine.',
    alert: 'DuelogClockNotTrusted',
  },
  'clock-trusted': {
    level: 'warn',
    fields: 'offsetMs',
    meaning: 'The trouble of `clock-not-trusted` is over.',
    action: 'Nothing.',
  },
  'broker-clocks-differ': {
    level: 'warn',
    fields: 'disagreeing',
    meaning: 'The clocks of brokers differ from one another, and from that of this machine.',
    action: 'Check the time services of the brokers.',
    alert: 'DuelogClockOffset',
  },
  'broker-time-unknown': { level: 'debug', fields: 'err', meaning: 'Brokers could not be asked for the time.' },
  'data-folder-open': {
    level: 'warn',
    fields: 'dataDir err',
    meaning: 'Other users of this machine may be able to read the data folder.',
    action: 'Give it to the user that Duelog runs as, with mode 0700.',
  },
  'tokens-bypassable': {
    level: 'warn',
    fields: '',
    meaning: 'Tokens protect the HTTP API, but the embedded broker and registry require no password.',
    action: 'On a shared machine, set `KAFKA_BROKERS` and `SCHEMA_REGISTRY_URL`.',
  },
  'registry-of-own': {
    level: 'warn',
    fields: 'brokers',
    meaning:
      '`KAFKA_BROKERS` names a cluster, and `SCHEMA_REGISTRY_URL` no registry: this process has started one that others do not reach.',
    action: 'Set `SCHEMA_REGISTRY_URL`, unless you only try it.',
  },
  'registry-awaited': {
    level: 'warn',
    fields: 'err',
    meaning: 'The registry did not answer the start of a worker, which tries it again for 20 s.',
    action: 'Nothing if the worker starts; otherwise look at `err`.',
  },
  'embedded-broker-up': { level: 'info', fields: 'broker dataDir', meaning: 'The embedded broker answers.' },
  'embedded-registry-up': { level: 'info', fields: 'dataDir', meaning: 'The embedded registry answers.' },
  'embedded-registry-asleep': {
    level: 'info',
    fields: 'dataDir',
    meaning: 'Nobody has called the embedded registry for a minute, so its process has ended. The next call starts it.',
  },
  'embedded-registry-failed': {
    level: 'warn',
    fields: 'dataDir',
    meaning: 'The embedded registry could not be started, or ended by itself. Jobs fire on. The next call starts it.',
    action: 'The sentence names its log file.',
  },
  'embedded-process-ended': {
    level: 'error',
    fields: '',
    meaning: 'The embedded broker ended by itself. Duelog ends too, because its state is in doubt.',
    action: 'The sentence names its log file.',
  },
  'stale-process-stopped': {
    level: 'warn',
    fields: 'stalePid name dataDir',
    meaning: 'A broker or registry of an earlier Duelog still ran and was stopped.',
    action: 'Nothing.',
  },
  'disk-low': {
    level: 'warn',
    fields: 'dataDir freeMb',
    meaning: 'The disk of the data folder has less than 1,024 MB left. With an embedded broker the process stops below 128 MB.',
    action: 'Free space, or move the data folder to a larger disk.',
  },
  'disk-free': {
    level: 'info',
    fields: 'dataDir freeMb',
    meaning: 'The disk of the data folder has space again.',
  },
  'peer-removed': {
    level: 'warn',
    fields: 'peer reason members',
    meaning:
      'Another process cannot work: it refuses connections, two processes have not heard it for 2 s, or no broker answers it for 3 s. Its members were removed from their groups, so that others take over at once.',
    action: 'Look why it ended. If it lives, it joins again by itself; look then at its load and at the network.',
  },
  'peer-not-removed': {
    level: 'warn',
    fields: 'peer err',
    meaning: 'Another process is dead, and the brokers refused to remove it. Its groups wait until its session ends (10 s).',
    action: 'Nothing, unless it repeats: then look at `err`.',
  },
  'former-members-removed': {
    level: 'info',
    fields: 'former members',
    meaning: 'The process before this one is dead. Its members were removed from their groups, so that nothing waits for them.',
  },
  'former-members-stay': {
    level: 'warn',
    fields: 'former err',
    meaning: 'The members of the process before this one stay in their groups until their sessions end (10 s).',
    action: 'Nothing, unless it repeats: then look at `err`.',
  },
  'former-file-not-written': {
    level: 'warn',
    fields: 'err',
    meaning: 'The name of this process cannot be saved. After a crash the groups wait until the sessions end.',
    action: 'Look at the disk of `DUELOG_DATA_DIR`.',
  },
  'child-process-started': { level: 'info', fields: 'process', meaning: 'The front or an executor process was started.' },
  'child-process-ended': {
    level: 'error',
    fields: 'process end againMs',
    meaning:
      'The front or an executor process ended by itself, or was ended because it was not ready after 120 s. It is started again after `againMs`.',
    action: 'Look at its last lines. `SIGKILL` is often a lack of memory, and `no start` a module of handlers that does not end.',
    alert: 'DuelogExecutorProcessEnds',
  },
} as const satisfies LogEvents
