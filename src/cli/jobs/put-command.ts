/** `duelog jobs put`: creates or replaces one job from flags. Files of jobs go through `jobs apply`. */
import type { Command } from 'commander'
import { stateWords } from '../../../streams/text/index.ts'
import type { Written } from '../../answers/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { type CommandFrame, forEach, path, type RemoteFlags, remoteCommand, remotely } from '../remote/index.ts'
import { exitCodes, oneLine } from '../terminal/index.ts'
import { jsonOf, laterText } from './change-commands.ts'
import { asUsageError, type ScheduleFlags, scheduleOf, scheduleOptions } from './schedule-flags.ts'

interface PutFlags extends RemoteFlags, ScheduleFlags {
  handler?: string
  topic?: string
  httpUrl?: string
  pool?: string
  payload?: string
  tag?: string[]
  fields?: string
  ifAbsent?: boolean
}

export function putCommand(frame: CommandFrame): Command {
  const command = remoteCommand('put', 'Create or replace a job.', [
    "jobs put report-7 --cron '0 9 * * MON-FRI' --timezone Europe/Paris --handler send-report",
    `jobs put hello --delay-ms 5000 --handler log --payload '{"text": "hello"}'`,
    'jobs put ping --every-ms 60000 --http-url https://example.org/ping --tag pings',
    `jobs put orders-tick --every-ms 1000 --topic orders --payload '{}' --fields '{"catchUp": "SKIP"}'`,
  ])
  for (const option of scheduleOptions()) command.addOption(option)
  return command
    .argument('<id>', 'ID of the job')
    .option('--handler <name>', 'the handler of a worker that runs it')
    .option('--topic <name>', 'the topic that gets the payload')
    .option('--http-url <url>', 'the address that a worker sends the payload to')
    .option('--pool <name>', 'with --handler or --http-url: the pool of its workers')
    .option('--payload <json>', 'its payload')
    .option('--tag <tag...>', 'words by which it can be found')
    .option('--fields <json>', 'any other fields of its definition, such as {"retry": {"maxAttempts": 1}}')
    .option('--if-absent', 'only if there is no job with this ID')
    .action((id: string, flags: PutFlags) => {
      const body = definitionOf(flags)
      const headers: Record<string, string> = flags.ifAbsent ? { 'if-none-match': '*' } : {}
      return remotely(frame, flags, (shell) =>
        forEach(shell, 'id', [id], async () => {
          const request = { body, headers, query: { wait: 'applied' } }
          const facts = await shell.api.ask<Written>('PUT', path`/v1/jobs/${id}`, request).catch(asUsageError)
          const { applied, status, reason, warnings = [] } = facts
          if (!shell.json) for (const warning of warnings) shell.terminal.stderr.write(`warning: ${oneLine(warning)}\n`)
          if (status === 'INVALID') shell.exit(exitCodes.failed.code)
          if (!applied) return { facts, text: laterText(facts.detail === undefined ? {} : { detail: facts.detail }) }
          return { facts, text: `${stateWords(status ?? 'ACTIVE')}${reason === undefined ? '.' : `: ${reason}`}` }
        }),
      )
    })
}

function definitionOf(flags: PutFlags): object {
  const { handler, topic, httpUrl, pool, payload, tag, fields } = flags
  const targets = { handler, topic: topic && { name: topic }, http: httpUrl && { url: httpUrl } }
  const given = Object.entries(targets).filter(([, value]) => value !== undefined)
  if (given.length !== 1) throw new DuelogError('bad-usage', 'Give one of --handler, --topic and --http-url.')
  const more = fields === undefined ? {} : JSON.parse(jsonOf(fields, '--fields').text)
  if (typeof more !== 'object' || more === null || Array.isArray(more))
    throw new DuelogError('bad-usage', '--fields is not an object of JSON.')
  const own = {
    schedule: scheduleOf(flags),
    target: { ...Object.fromEntries(given), ...(pool !== undefined && { pool }) },
    ...(payload !== undefined && { payload: jsonOf(payload) }),
    ...(tag !== undefined && { tags: tag }),
  }
  const [twice] = Object.keys(own).filter((name) => name in more)
  if (twice !== undefined) throw new DuelogError('bad-usage', `--fields has ${twice}, which has a flag of its own.`)
  return { ...more, ...own }
}
