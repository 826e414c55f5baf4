/** `duelog reshard`, `unfence` and `carry`: another number of partitions, the way back, and what is written to the old topics meanwhile. */
import { Command, Option } from 'commander'
import { counted } from '../../../streams/text/index.ts'
import type { ReshardResult } from '../../backup/index.ts'
import { environmentOf, readConfig } from '../../config/index.ts'
import { type CommandFrame, withExamples } from '../remote/index.ts'
import { integer, numberText, settingOptions, showWork } from '../terminal/index.ts'
import {
  type BackupFlags,
  contentText,
  partitionsMax,
  restoreSettings,
  secondsText,
  withoutSchemas,
  workFolderOption,
} from './backup-command.ts'
import { clusterIn, kafkaSettings } from './cluster.ts'

interface ReshardFlags extends BackupFlags {
  toPrefix: string
  partitions: number
}

interface CarryFlags extends BackupFlags {
  from: string
  follow?: boolean
}

export function reshardCommand(frame: CommandFrame): Command {
  const command = withExamples(
    new Command('reshard').description(
      'Copy a stopped system to topics with another prefix and another number of partitions. The old topics stay; their owners are fenced, so that a suspended one decides nothing when it wakes up.',
    ),
    [
      'reshard --partitions 64 --to-prefix duelog2.',
      'reshard --partitions 64 --to-prefix duelog2. --topic-prefix duelog. --work-folder /mnt/large',
    ],
  )
  for (const option of settingOptions([...restoreSettings, 'DUELOG_INTAKE_ETF1_TOPICS', 'DUELOG_INTAKE_KARAFKA_TOPICS']))
    command.addOption(option)
  return command
    .addOption(integer('--partitions <n>', 'partitions of the new topics', undefined, 1, partitionsMax).makeOptionMandatory())
    .addOption(new Option('--to-prefix <text>', 'prefix of the new topics').makeOptionMandatory())
    .addOption(workFolderOption())
    .addOption(new Option('--json', 'print the result as one line of JSON'))
    .action((flags: ReshardFlags) =>
      showWork(frame, flags, async (onProgress, signal) => {
        const { reshard } = await import('../../backup/index.ts')
        const { partitions, toPrefix, workFolder, ...settings } = flags
        const env = { ...frame.terminal.env, ...environmentOf(settings) }
        const { pools, replication, intakeTopics, ...retentions } = readConfig(env)
        const what = { read: 'offsets read', written: 'partitions copied', restored: 'jobs written' } as const
        const result = await reshard({
          ...{ pools, replication, retentions, partitions, toPrefix, workFolder, signal },
          cluster: clusterIn(env, 'duelog-reshard'),
          intakeTopics: [...intakeTopics.etf1, ...intakeTopics.karafka],
          onProgress: (done, total, step) => onProgress(done, total, what[step]),
        })
        return { json: { ...result, restore: withoutSchemas(result.restore) }, text: reshardText(toPrefix, result) }
      }),
    )
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

export function unfenceCommand(frame: CommandFrame): Command {
  const command = withExamples(
    new Command('unfence').description(
      'The way back from reshard: let the schedulers of the old topics decide again. Refused once the new system has run.',
    ),
    ['unfence --topic-prefix duelog.'],
  )
  for (const option of settingOptions(kafkaSettings)) command.addOption(option)
  return command.addOption(new Option('--json', 'print the result as one line of JSON')).action((flags: BackupFlags) =>
    showWork(frame, flags, async (onProgress, signal) => {
      const { unfence } = await import('../../backup/index.ts')
      const cluster = clusterIn({ ...frame.terminal.env, ...environmentOf(flags) }, 'duelog-unfence')
      const movedTo = await unfence({ cluster, signal, onProgress: (done, total) => onProgress(done, total, 'offsets read') })
      const text = `Schedulers of ${cluster.topicPrefix}* decide again. The topics ${movedTo}* may be deleted.`
      return { json: { movedTo }, text }
    }),
  )
}

export function carryCommand(frame: CommandFrame): Command {
  const command = withExamples(
    new Command('carry').description(
      'Write to a restored system what was written to the topics of the old one since the backup: definitions, deletions and commands. Each record once, however often it is called.',
    ),
    ['carry --from duelog. --topic-prefix duelog2.', 'carry --from duelog. --topic-prefix duelog2. --follow'],
  )
  for (const option of settingOptions(kafkaSettings)) command.addOption(option)
  return command
    .addOption(new Option('--from <prefix>', 'prefix of the old topics').makeOptionMandatory())
    .addOption(new Option('--follow', 'go on until Ctrl-C; without it, end when all is carried over that was there'))
    .addOption(new Option('--json', 'print the result as one line of JSON'))
    .action((flags: CarryFlags) =>
      showWork(frame, flags, async (onProgress, signal) => {
        const { carry } = await import('../../backup/index.ts')
        const { from, follow = false, ...settings } = flags
        const cluster = clusterIn({ ...frame.terminal.env, ...environmentOf(settings) }, 'duelog-carry')
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
    )
}
