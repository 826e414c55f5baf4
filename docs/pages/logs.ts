/** docs/LOGS.md: the log events of src/ground/logging/events. */
import { eventGroups, type LogEvent } from '../../src/ground/logging/events/index.ts'
import { code, heading, page, table } from './markdown.ts'

const lines = `## A line

Each line is JSON, written by [pino](https://getpino.io) to the standard output:

\`\`\`text
{"level":40,"time":1760000000000,"pid":1,"hostname":"s1","event":"partition-reopened","err":{"type":"DuelogError","message":"…","stack":"…"},"partition":3,"msg":"Partition 3 is reopened: …"}
\`\`\`

- \`level\` is 20 (debug), 30 (info), 40 (warn), 50 (error) or 60 (fatal). \`DUELOG_LOG_LEVEL\` sets the lowest that is written.
- \`event\` and the names of the fields are stable. A new version may add events and fields; the changelog names each one that goes or changes.
- \`msg\` is a sentence for people. It may change.
- \`err\` has \`type\`, \`message\`, \`stack\`, and \`code\` if it is one of [ERRORS](ERRORS.md).
- \`linesLeftOut\` says how many lines were left out before this one. Of an event that repeats, one line a minute is written. Of lines about records, 20 for each topic in 10 s.
- No line contains a password, a token or a key of a setting.
- Lines of your own handlers (\`run.logger\`) have \`executionId\`, \`attempt\` and your fields, and no \`event\` unless you give one.

In OpenTelemetry, \`event\` belongs into the field \`EventName\` of a log record: [Logs](how-to/monitoring.md#logs).`

export function logsPage(): string {
  const groups = Object.entries(eventGroups).flatMap(([title, events]) => [`## ${title}`, tableOf(events)])
  return page(
    heading(
      'Logs',
      'src/ground/logging/events',
      'What Duelog logs, by the name in the field `event`. Search and alert by this name, not by the sentence. Fields with `?` are not in each line.',
    ),
    lines,
    ...groups,
  )
}

function tableOf(events: Record<string, LogEvent>): string {
  return table(
    ['Event', 'Level', 'Fields', 'What it says', 'What to do'],
    Object.entries(events).map(([name, { level, fields, meaning, action, alert, repeats }]) => [
      code(name),
      [level].flat().join(', '),
      fields === '' ? '' : fields.split(' ').map(code).join(' '),
      repeats ? `${meaning} It repeats.` : meaning,
      `${action ?? ''}${alert === undefined ? '' : ` [${alert}](RUNBOOK.md#${alert.toLowerCase()})`}`.trim(),
    ]),
  )
}
