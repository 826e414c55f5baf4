/** The table of limits in README.md: figures from the schemas and the constants that enforce them. */

import { type AvroField, type AvroRecord, fieldOf } from '../../schemas/avro-schema.ts'
import { executionEventSchema, jobDefinitionSchema } from '../../schemas/generated.ts'
import { settingByName } from '../../src/ground/config/settings.ts'
import { bodyBytesMax, listLimitMax, previewCountMax, recordBytesMax } from '../../src/server/api/schemas/limits.ts'
import { jobIdLimit } from '../../streams/definitions/validate.ts'
import { chainDepthMax, chainRunsMax } from '../../streams/runs/chain.ts'
import { runHistorySize } from '../../streams/state/keys.ts'
import { stateBytesMax } from '../../streams/state/state-size.ts'
import { numberText, table } from './markdown.ts'

export function limitsTable(): string {
  const job = (name: string): AvroField => fieldOf(jobDefinitionSchema, name)
  const schedule = job('schedule').type as AvroRecord
  const retry = job('retry').type as AvroRecord
  const error = (fieldOf(executionEventSchema, 'error').type as [string, AvroRecord])[1]
  const rate = (job('rateLimit').type as [string, AvroRecord])[1]
  const partitions = settingByName.get('DUELOG_PARTITIONS')
  const bytes = (value: number | undefined): string => `${numberText(value ?? 0)} bytes`
  const characters = ({ maxLength = 0 }: AvroField): string => `${numberText(maxLength)} characters`
  const most = (name: string): string => numberText(job(name).maximum ?? 0)
  return table(
    ['What', 'Limit'],
    [
      ['Job id', jobIdLimit],
      ['Payload', bytes(job('payload').maxBytes)],
      ['Headers', `${numberText(job('headers').maxEntries ?? 0)}, names and values together ${bytes(job('headers').maxBytes)}`],
      ['Key, value and headers of the record', bytes(recordBytesMax)],
      ['Interval', `at least ${numberText(fieldOf(schedule, 'everyMs').minimum ?? 0)} ms; every time is a whole ms`],
      ['Attempts of a run', `1 to ${numberText(fieldOf(retry, 'maxAttempts').maximum ?? 0)}; a backoff of at most a day`],
      ['Duration of an attempt', `at most ${most('attemptTimeoutMs')} ms`],
      ['Active runs of a job, of any trigger', `at most ${most('maxConcurrentRuns')}`],
      ['Runs of a concurrencyKey at once', `at most ${most('concurrencyLimit')}; any number may wait`],
      [
        'Starts of a rateLimit',
        `at most ${numberText(fieldOf(rate, 'limit').maximum ?? 0)} in ${numberText(fieldOf(rate, 'perMs').maximum ?? 0)} ms`,
      ],
      ['Result of a handler', `${bytes(fieldOf(executionEventSchema, 'result').maxBytes)} of JSON; a larger one is left out`],
      [
        'Error of an attempt',
        `${characters(fieldOf(error, 'message'))}, its type ${characters(fieldOf(error, 'type'))}; the rest is cut`,
      ],
      ['Message of a progress', `${characters(fieldOf(executionEventSchema, 'message'))}; the rest is cut`],
      ['Follow-ups of a run', `${numberText(chainRunsMax)} runs in all, over ${chainDepthMax} generations`],
      ['State of a job', `${bytes(stateBytesMax)}; if it would be larger, older errors and then the last result are left out`],
      ['Runs kept for a job', `the active ones and the last ${runHistorySize + 1}`],
      ['Tags', `${numberText(job('tags').maxEntries ?? 0)} of ${numberText(job('tags').maxLength ?? 0)} characters`],
      ['HTTP body, or line of a batch', bytes(bodyBytesMax)],
      ['Page of a list, preview of a schedule', `${numberText(listLimitMax)} jobs, ${numberText(previewCountMax)} times`],
      [
        'Partitions',
        `${partitions?.minimum} to ${numberText(partitions?.maximum ?? 0)}, those with which the topics were created`,
      ],
    ],
  )
}
