/** `duelog audit`: checks in the log that each occurrence ran exactly once. */
import { Command, Option } from 'commander'
import { environmentOf, listOf } from '../../config/index.ts'
import { type CommandFrame, withExamples } from '../remote/index.ts'
import { number, type RangeFlags, rangeOf, rangeOptions, settingOptions, showWork } from '../terminal/index.ts'
import { clusterIn, kafkaSettings } from './cluster.ts'

interface AuditFlags extends Record<string, unknown>, RangeFlags {
  grace: number
  json?: boolean
  targetTopics?: string
}

export function auditCommand(frame: CommandFrame): Command {
  const command = withExamples(
    new Command('audit').description(
      "Read the log and prove that each occurrence ran exactly once or was skipped by its job's policy, or list those for which this is not true. It contacts no owner and writes no record.",
    ),
    [
      'audit',
      'audit --from 2030-01-01T00:00:00Z --to 2030-01-02T00:00:00Z --json',
      'audit --kafka-brokers broker-1:9092 --grace 60',
    ],
  )
  for (const option of rangeOptions('only occurrences with a nominal time')) command.addOption(option)
  command
    .addOption(number('--grace <s>', 'seconds after the due time that a run may still be in progress', 10, 0, 86_400))
    .option(
      '--target-topics <names>',
      'also read these topics of yours, separated by commas: each run must have one record in its topic',
    )
    .addOption(new Option('--json', 'print the verdict as one line of JSON'))
  for (const option of settingOptions(kafkaSettings)) command.addOption(option)
  return command.action(async (flags: AuditFlags) => {
    // Loaded on demand, so that commands that use only HTTP start sooner.
    const { audit, auditText, isClean } = await import('../../auditor/index.ts')
    const { from, to } = rangeOf(flags)
    return showWork(frame, flags, async (onProgress, signal) => {
      const verdict = await audit({
        cluster: clusterIn({ ...frame.terminal.env, ...environmentOf(flags) }, 'duelog-audit'),
        from: msOf(from),
        to: msOf(to),
        graceMs: flags.grace * 1_000,
        targetTopics: listOf(flags.targetTopics),
        onProgress: (done, total) => onProgress(done, total, 'offsets read'),
        signal,
      })
      const clean = isClean(verdict)
      return { json: { clean, ...verdict }, text: auditText(verdict), failed: !clean }
    })
  })
}

/** Epoch ms of a checked time. */
const msOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time))
