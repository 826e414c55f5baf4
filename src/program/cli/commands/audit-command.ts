/** `duelog audit`: checks in the log that each occurrence ran exactly once. `duelog audit list`: the audit trail of the API. */
import { Option } from 'commander'
import type { AuditRecord } from '../../../ground/answers/index.ts'
import { environmentOf, listOf } from '../../../ground/config/index.ts'
import { type CommandPlan, jsonOption, type List, type RemoteFlags, remoteCommand, showPages } from '../remote/index.ts'
import {
  integer,
  number,
  numberText,
  type RangeFlags,
  rangeOf,
  rangeOptions,
  settingOptions,
  showWork,
} from '../terminal/index.ts'
import { clusterIn, kafkaSettings } from './cluster.ts'

interface AuditFlags extends Record<string, unknown>, RangeFlags {
  grace: number
  json?: boolean
  targetTopics?: string
}

/** Epoch ms of a checked time. */
const msOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time))

interface ListFlags extends RemoteFlags, RangeFlags {
  job?: string
  actor?: string
  action?: string
  limit: number
}

const auditListCommand = remoteCommand({
  name: 'list',
  description:
    'List the requests that changed jobs, runs, pools and workers, newest first: when, who, what, and each field of a definition before and after. It needs a token of the role operator.',
  examples: ['audit list --since 1h', 'audit list --job report-7', 'audit list --actor deploy --action PUT --json'],
  options: [
    ...rangeOptions('only changes'),
    new Option('--job <id>', 'only changes of this job, and batches that name it'),
    new Option('--actor <name>', 'only changes by this token or subject'),
    new Option('--action <action>', 'only these changes, such as PUT, DELETE, PAUSE, PAUSE_MANY, BATCH, PAUSE_POOL'),
    integer('--limit <n>', 'maximum number of changes to show', 100, 1, 100_000),
  ],
  run: (shell, flags: ListFlags) => {
    const { job, actor, action, limit } = flags
    const query = { ...rangeOf(flags), jobId: job, actor, action: action?.toUpperCase() }
    const read = (page: object) => shell.api.listAudit({ ...query, ...page })
    return showPages(shell, limit, read, ({ records }) => records, auditList)
  },
})

const auditList: List<AuditRecord> = {
  none: 'No changes.',
  columns: [
    ['TIME', ({ at }, { time }) => time(at)],
    ['ACTOR', ({ actor }) => actor],
    ['ACTION', ({ action }) => action],
    ['ON', ({ jobId, runNo, target }) => (jobId === null ? (target ?? '') : runNo === null ? jobId : `${jobId}/${runNo}`)],
    ['OUTCOME', ({ outcome }) => outcome],
    ['CHANGES', changesText],
  ],
}

function changesText({ filter, jobIds, changes, done, refused }: AuditRecord): string {
  return [
    ...(filter == null ? [] : [`where ${filter}`]),
    ...(jobIds.length === 0 ? [] : [`${numberText(jobIds.length)} jobs: ${jobIds.slice(0, 3).join(' ')}`]),
    ...changes.map(({ field, before, after }) => `${field}: ${before ?? '—'} → ${after ?? '—'}`),
    ...(done == null ? [] : [`${numberText(done)} changed`]),
    ...(refused ? [`${numberText(refused)} refused`] : []),
  ].join(', ')
}

export const auditCommand: CommandPlan = {
  name: 'audit',
  description:
    "Read the log and prove that each occurrence ran exactly once or was skipped by its job's policy, or list those for which this is not true. It contacts no owner and writes no record.",
  examples: [
    'audit',
    'audit --from 2030-01-01T00:00:00Z --to 2030-01-02T00:00:00Z --json',
    'audit --kafka-brokers broker-1:9092 --grace 60',
  ],
  options: [
    ...rangeOptions('only occurrences with a nominal time'),
    number('--grace <s>', 'seconds after the due time that a run may still be in progress', 10, 0, 86_400),
    new Option(
      '--target-topics <names>',
      'also read these topics of yours, separated by commas: each run must have one record in its topic',
    ),
    jsonOption('print the verdict as one line of JSON'),
    ...settingOptions(kafkaSettings),
  ],
  commands: [auditListCommand],
  run: async (frame, flags: AuditFlags) => {
    // Loaded on demand, so that commands that use only HTTP start sooner.
    const { audit, auditText, isClean } = await import('../../../tools/auditor/index.ts')
    const { from, to } = rangeOf(flags)
    return showWork(frame, flags, async (onProgress, signal) => {
      const verdict = await audit({
        cluster: await clusterIn({ ...frame.terminal.env, ...environmentOf(flags) }, 'duelog-audit'),
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
  },
}
