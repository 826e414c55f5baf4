/** `duelog backup` and `duelog restore`: a copy of the whole system in one file, and back into empty topics. */
import { Command, Option } from 'commander'
import { settingsSchema } from '../../../schemas/index.ts'
import { counted } from '../../../streams/text/index.ts'
import type { BackupCounts, BackupResult, RestoreResult } from '../../backup/index.ts'
import { environmentOf, readConfig } from '../../config/index.ts'
import { type CommandFrame, withExamples } from '../remote/index.ts'
import { integer, numberText, settingOptions, showWork } from '../terminal/index.ts'
import { clusterIn, kafkaSettings } from './cluster.ts'

export const restoreSettings = [
  ...kafkaSettings,
  ...['DUELOG_POOLS', 'DUELOG_REPLICATION', 'DUELOG_RUNS_RETENTION_MS', 'DUELOG_RUN_LOGS_RETENTION_MS'],
]
export const partitionsMax = settingsSchema.properties.DUELOG_PARTITIONS.maximum

export interface BackupFlags extends Record<string, unknown> {
  workFolder?: string
  json?: boolean
}

interface RestoreFlags extends BackupFlags {
  partitions?: number
  dryRun?: boolean
}

export const workFolderOption = (): Option =>
  new Option(
    '--work-folder <folder>',
    'folder for temporary files, about as large as all definitions and states; default: that of the file',
  )

export function backupCommand(frame: CommandFrame): Command {
  const command = withExamples(
    new Command('backup')
      .argument('<file>', 'the file to write; it must not exist')
      .description(
        'Write all jobs, with everything that was decided about them, into one file. The system may run meanwhile; it is not changed.',
      ),
    ['backup duelog.backup', 'backup /backups/monday.backup --kafka-brokers broker-1:9092 --json'],
  )
  for (const option of settingOptions(kafkaSettings)) command.addOption(option)
  return command
    .addOption(workFolderOption())
    .addOption(new Option('--json', 'print the result as one line of JSON'))
    .action((file: string, flags: BackupFlags) =>
      showWork(frame, flags, async (onProgress, signal) => {
        const { backup } = await import('../../backup/index.ts')
        const result = await backup({
          cluster: clusterIn({ ...frame.terminal.env, ...environmentOf(flags) }, 'duelog-backup'),
          file,
          workFolder: flags.workFolder,
          onProgress: (done, total, what) => onProgress(done, total, what === 'read' ? 'offsets read' : 'partitions written'),
          signal,
        })
        return { json: result, text: backupText(file, result) }
      }),
    )
}

export function restoreCommand(frame: CommandFrame): Command {
  const command = withExamples(
    new Command('restore')
      .argument('<file>', 'a file that duelog backup has written')
      .description(
        'Write a backup into topics that are empty or missing, with any number of partitions. A damaged file is refused before anything is written.',
      ),
    ['restore duelog.backup --topic-prefix duelog2. --dry-run', 'restore duelog.backup --topic-prefix duelog2. --partitions 64'],
  )
  for (const option of settingOptions(restoreSettings)) command.addOption(option)
  return command
    .addOption(
      integer(
        '--partitions <n>',
        'partitions of the new topics; default: as many as the backup had',
        undefined,
        1,
        partitionsMax,
      ),
    )
    .addOption(workFolderOption())
    .addOption(new Option('--dry-run', 'check the file and the target, and write nothing'))
    .addOption(new Option('--json', 'print the result as one line of JSON'))
    .action((file: string, flags: RestoreFlags) =>
      showWork(frame, flags, async (onProgress, signal) => {
        const { restore } = await import('../../backup/index.ts')
        const { partitions, dryRun = false, ...settings } = flags
        const env = { ...frame.terminal.env, ...environmentOf(settings) }
        const { pools, replication, ...retentions } = readConfig(env)
        const result = await restore({
          ...{ file, pools, replication, retentions, dryRun, signal, partitions, workFolder: flags.workFolder },
          cluster: clusterIn(env, 'duelog-restore'),
          onProgress: (done, total) => onProgress(done, total, 'jobs written'),
        })
        return { json: withoutSchemas(result), text: restoreText(file, result, dryRun) }
      }),
    )
}

/** The schemas would be most of the output. */
export function withoutSchemas({ header, ...result }: RestoreResult): object {
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

export const secondsText = (ms: number): string => (ms / 1_000).toFixed(1)

/** What continues, and how. */
export function contentText(counts: BackupCounts): string {
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
