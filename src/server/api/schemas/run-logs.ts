/** Schema of the route of the lines that a run has written. */
import {
  answers,
  closed,
  enumOf,
  flag,
  idParams,
  integer,
  integerUpTo,
  listOf,
  named,
  orNull,
  staleQuery,
  text,
  textOrNull,
  textUpTo,
  time,
} from './common.ts'
import { runLogLinesDefault, runLogLinesMax } from './limits.ts'
import { runParams } from './runs.ts'

const runLogLineSchema = named('RunLogLine', {
  at: { ...time, description: "When the handler wrote the line, by the worker's clock." },
  level: enumOf(['debug', 'info', 'warn', 'error']),
  text: { type: 'string' },
  fields: orNull({ type: 'object', additionalProperties: true }, 'Values beside the text: texts, numbers, booleans and null.'),
  shortened: flag('Whether parts of the line were over a limit and left out.'),
  attempt: integer('Number of the attempt.'),
  no: integer('Number of the line; each worker counts the lines of an attempt from 1.'),
  worker: text('name@host:pid:boot of the worker.'),
})

export const runLogsSchema = {
  operationId: 'getRunLogs',
  tags: ['Runs'],
  summary: 'Lines that the handler of a run wrote with run.log, in the order of their arrival',
  description:
    'An answer may have no lines and a cursor: it covers a bounded part of the topic. Ask again with the cursor at once; with caughtUp true, after about a second. The cursor is null when the run has ended and all its lines were read. For a run that is no longer kept, give from, and to if it is known.',
  params: closed({ ...idParams.properties, runNo: runParams.properties.runNo }, ['id', 'runNo']),
  querystring: closed({
    limit: integerUpTo(runLogLinesMax, runLogLinesDefault, 'Maximum lines.'),
    cursor: textUpTo(100, 'The cursor of the previous answer.'),
    from: text('Only lines that arrived from then on. ISO 8601 with an offset, or epoch ms. Default: the start of the run.'),
    to: text('Only lines that arrived before. ISO 8601 with an offset, or epoch ms. Default: a minute after the end of the run.'),
    ...staleQuery,
  }),
  response: answers(
    named('RunLogPage', {
      lines: listOf(runLogLineSchema),
      cursor: textOrNull('Where the next answer continues; null: no more lines will come.'),
      caughtUp: flag('Whether all lines that have arrived were read.'),
      unreadable: integer('Records of the job in this part of the topic that are no lines. They were skipped.'),
    }),
  ),
} as const
