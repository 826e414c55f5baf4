/**
 * `duelog backup` and `restore`: a copy of the whole system in one file, and back into empty topics. `duelog reshard`, `unfence` and
 * `carry`: another number of partitions, the way back, and what is written to the old topics meanwhile.
 */
import { Option } from 'commander'
import { settingsSchema } from '../../../../schemas/index.ts'
import { counted } from '../../../../streams/text/index.ts'
import { environmentOf, readConfig } from '../../../ground/config/index.ts'
import type { BackupCounts, BackupResult, ReshardResult, RestoreResult } from '../../../tools/backup/index.ts'
import { type CommandPlan, jsonOption } from '../remote/index.ts'
import { integer, numberText, settingOptions, showWork } from '../terminal/index.ts'
import { clusterIn, kafkaSettings } from './cluster.ts'

const restoreSettings = [
  ...kafkaSettings,
  ...['DUELOG_POOLS', 'DUELOG_REPLICATION', 'DUELOG_RUNS_RETENTION_MS', 'DUELOG_RUN_LOGS_RETENTION_MS'],
]

interface BackupFlags extends Record<string, unknown> {
  workFolder?: string
  json?: boolean
}

interface RestoreFlags extends BackupFlags {
  partitions?: number
  dryRun?: boolean
}

interface ReshardFlags extends BackupFlags {
  toPrefix: string
  partitions: number
}

interface CarryFlags extends BackupFlags {
  from: string
  follow?: boolean
}

const workFolderOption = (): Option =>
  new Option(
    '--work-folder <folder>',
    'folder for temporary files, about as large as all definitions and states; default: that of the file',
  )
const partitionsOption = (description: string): Option =>
  integer('--partitions <n>', description, undefined, 1, settingsSchema.properties.DUELOG_PARTITIONS.maximum)
const resultOption = (): Option => jsonOption('print the result as one line of JSON')

export const backupCommand: CommandPlan = {
  name: 'backup',
  description:
    'Write all jobs, with everything that was decided about them, into one file. The system may run meanwhile; it is not changed.',
  examples: ['backup duelog.backup', 'backup /backups/monday.backup --kafka-brokers broker-1:9092 --json'],
  options: [...settingOptions(kafkaSettings), workFolderOption(), resultOption()],
  args: { '<file>': 'the file to write; it must not exist' },
  run: (frame, file: string, flags: BackupFlags) =>
    showWork(frame, flags, async (onProgress, signal) => {
      const { backup } = await import('../../../tools/backup/index.ts')
      const result = await backup({
        cluster: await clusterIn({ ...frame.terminal.env, ...environmentOf(flags) }, 'duelog-backup'),
        file,
        workFolder: flags.workFolder,
        onProgress: (done, total, what) => onProgress(done, total, what === 'read' ? 'offsets read' : 'partitions written'),
        signal,
      })
      return { json: result, text: backupText(file, result) }
    }),
}

export const restoreCommand: CommandPlan = {
  name: 'restore',
  description:
    'Write a backup into topics that are empty or missing, with any number of partitions. A damaged file is refused before anything is written.',
  examples: [
    'restore duelog.backup --topic-prefix duelog2. --dry-run',
    'restore duelog.backup --topic-prefix duelog2. --partitions 64',
  ],
  options: [
    ...settingOptions(restoreSettings),
    partitionsOption('partitions of the new topics; default: as many as the backup had'),
    workFolderOption(),
    new Option('--dry-run', 'check the file and the target, and write nothing'),
    resultOption(),
  ],
  args: { '<file>': 'a file that duelog backup has written' },
  run: (frame, file: string, flags: RestoreFlags) =>
    showWork(frame, flags, async (onProgress, signal) => {
      const { restore } = await import('../../../tools/backup/index.ts')
      const { partitions, dryRun = false, ...settings } = flags
      const env = { ...frame.terminal.env, ...environmentOf(settings) }
      const { pools, replication, ...retentions } = readConfig(env)
      const result = await restore({
        ...{ file, pools, replication, retentions, dryRun, signal, partitions, workFolder: flags.workFolder },
        cluster: await clusterIn(env, 'duelog-restore'),
        onProgress: (done, total) => onProgress(done, total, 'jobs written'),
      })
      return { json: withoutSchemas(result), text: restoreText(file, result, dryRun) }
    }),
}

/** The schemas would be most of the output. */
function withoutSchemas({ header, ...result }: RestoreResult): object {
  const { schemas: _, ...shown } = header
  return { ...result, header: shown }
}

function backupText(file: string, { counts, bytes, partitions, live, tookMs }: BackupResult): string {
  const how = live ? 'Schedulers ran meanwhile: each partition is copied as of its last commit.' : 'No scheduler ran.'
  return `${file}: ${counted(counts.jobs, 'job')} of ${counted(partitions, 'partition')}, ${numberText(bytes)} bytes, in ${secondsText(tookMs)} s. ${how}\n${contentText(counts)}`
}

function restoreText(file: string, { header, counts, partitions, records, tookMs }: RestoreResult, dryRun: boolean): string {
  const what = `${counted(counts.jobs, 'job')} of ${counted(header.partitions, 'partition')} from ${new Date(header.createdAt).toISOString()}`
  if (dryRun)
    return `${file} is sound: ${what}. They would be written to ${counted(partitions, 'partition')}. Nothing was written.\n${contentText(counts)}`
  return `${file}: ${what} are in ${counted(partitions, 'partition')}: ${counted(records, 'record')} in ${secondsText(tookMs)} s.\n${contentText(counts)}`
}

const secondsText = (ms: number): string => (ms / 1_000).toFixed(1)

/** What continues, and how. */
function contentText(counts: BackupCounts): string {
  const { activeRuns, startedRuns, deadRuns, pendingDefinitions, pendingCommands, pendingReports, unreadable } = counts
  const lines = [
    `${counted(activeRuns, 'run')} had not ended; ${numberText(startedRuns)} of them had been started by a worker, and their lease judges them.`,
    `${counted(deadRuns, 'dead run')} can be redriven.`,
    `Not decided yet: ${counted(pendingDefinitions, 'definition or deletion', 'definitions and deletions')}, ${counted(pendingCommands, 'command')}, ${counted(pendingReports, 'report')}.`,
  ]
  if (unreadable > 0)
    lines.push(
      `${counted(unreadable, 'record')} cannot be decoded and ${unreadable === 1 ? 'is' : 'are'} left out, or the job is INVALID.`,
    )
  return lines.join('\n')
}

export const reshardCommand: CommandPlan = {
  name: 'reshard',
  description:
    'Copy a stopped system to topics with another prefix and another number of partitions. The old topics stay; their owners are fenced, so that a suspended one decides nothing when it wakes up.',
  examples: [
    'reshard --partitions 64 --to-prefix duelog2.',
    'reshard --partitions 64 --to-prefix duelog2. --topic-prefix duelog. --work-folder /mnt/large',
  ],
  options: [
    ...settingOptions([...restoreSettings, 'DUELOG_INTAKE_ETF1_TOPICS', 'DUELOG_INTAKE_KARAFKA_TOPICS']),
    partitionsOption('partitions of the new topics').makeOptionMandatory(),
    new Option('--to-prefix <text>', 'prefix of the new topics').makeOptionMandatory(),
    workFolderOption(),
    resultOption(),
  ],
  run: (frame, flags: ReshardFlags) =>
    showWork(frame, flags, async (onProgress, signal) => {
      const { reshard } = await import('../../../tools/backup/index.ts')
      const { partitions, toPrefix, workFolder, ...settings } = flags
      const env = { ...frame.terminal.env, ...environmentOf(settings) }
      const { pools, replication, intakeTopics, ...retentions } = readConfig(env)
      const what = { read: 'offsets read', written: 'partitions copied', restored: 'jobs written' } as const
      const result = await reshard({
        ...{ pools, replication, retentions, partitions, toPrefix, workFolder, signal },
        cluster: await clusterIn(env, 'duelog-reshard'),
        intakeTopics: [...intakeTopics.etf1, ...intakeTopics.karafka],
        onProgress: (done, total, step) => onProgress(done, total, what[step]),
      })
      return { json: { ...result, restore: withoutSchemas(result.restore) }, text: reshardText(toPrefix, result) }
    }),
}

function reshardText(toPrefix: string, { backup, restore, tookMs }: ReshardResult): string {
  const { counts } = restore
  const from = `${counted(counts.jobs, 'job')} of ${counted(backup.partitions, 'partition')}`
  const took = `${secondsText(tookMs)} s: ${secondsText(backup.tookMs)} s to copy, ${secondsText(restore.tookMs)} s to write`
  return [
    `${from} are in ${counted(restore.partitions, 'partition')} of ${toPrefix}* after ${took}.`,
    contentText(counts),
    `Now start Duelog with DUELOG_TOPIC_PREFIX=${toPrefix} and an empty data folder. For what is still written to the old topics: duelog carry.`,
  ].join('\n')
}

export const unfenceCommand: CommandPlan = {
  name: 'unfence',
  description:
    'The way back from reshard: let the schedulers of the old topics decide again. Refused once the new system has run.',
  examples: ['unfence --topic-prefix duelog.'],
  options: [...settingOptions(kafkaSettings), resultOption()],
  run: (frame, flags: BackupFlags) =>
    showWork(frame, flags, async (onProgress, signal) => {
      const { unfence } = await import('../../../tools/backup/index.ts')
      const cluster = await clusterIn({ ...frame.terminal.env, ...environmentOf(flags) }, 'duelog-unfence')
      const movedTo = await unfence({ cluster, signal, onProgress: (done, total) => onProgress(done, total, 'offsets read') })
      const text = `Schedulers of ${cluster.topicPrefix}* decide again. The topics ${movedTo}* may be deleted.`
      return { json: { movedTo }, text }
    }),
}

export const carryCommand: CommandPlan = {
  name: 'carry',
  description:
    'Write to a restored system what was written to the topics of the old one since the backup: definitions, deletions and commands. Each record once, however often it is called.',
  examples: ['carry --from duelog. --topic-prefix duelog2.', 'carry --from duelog. --topic-prefix duelog2. --follow'],
  options: [
    ...settingOptions(kafkaSettings),
    new Option('--from <prefix>', 'prefix of the old topics').makeOptionMandatory(),
    new Option('--follow', 'go on until Ctrl-C; without it, end when all is carried over that was there'),
    resultOption(),
  ],
  run: (frame, flags: CarryFlags) =>
    showWork(frame, flags, async (onProgress, signal) => {
      const { carry } = await import('../../../tools/backup/index.ts')
      const { from, follow = false, ...settings } = flags
      const cluster = await clusterIn({ ...frame.terminal.env, ...environmentOf(settings) }, 'duelog-carry')
      const carried = await carry({
        ...{ cluster, fromPrefix: from, follow, signal },
        onProgress: (done) => onProgress(done, undefined, 'records carried over'),
      })
      const text =
        carried === 0
          ? `Nothing was left in the topics ${from}*.`
          : `${numberText(carried)} ${carried === 1 ? 'record was' : 'records were'} carried over from ${from}*.`
      return { json: { carried }, text }
    }),
}
