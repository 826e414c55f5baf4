/** Which field of a job is meant by a name that no field has there. */
import { type AvroRecord, jobDefinitionSchema, type Names, shapeOf } from '../../schemas/index.ts'

/** Names that other schedulers and queues have for a field. In lower case, without - and _. */
const foreignNames: Record<string, string> = {
  ...{ name: 'id', jobid: 'id' },
  ...{ tz: 'schedule.timezone', zone: 'schedule.timezone', utc: 'schedule.timezone', interval: 'schedule.everyMs' },
  ...{ every: 'schedule.everyMs', delay: 'schedule.delayMs', runat: 'schedule.at', pattern: 'schedule.cron' },
  ...{ repeat: 'schedule.everyMs', starttime: 'startAt', endtime: 'endAt' },
  ...{ data: 'payload', body: 'payload', args: 'payload', input: 'payload', task: 'target.handler', queue: 'target.pool' },
  ...{ attempts: 'retry.maxAttempts', retries: 'retry.maxAttempts', maxretries: 'retry.maxAttempts' },
  ...{
    timeout: 'attemptTimeoutMs',
    timeoutms: 'attemptTimeoutMs',
    ttl: 'startDeadlineMs',
    enabled: 'paused',
    disabled: 'paused',
  },
}

/** Fields inside others, by their names in lower case. A name that two have is left out: nothing says which is meant. */
const innerNames = innerFields(jobDefinitionSchema, '', new Map())

function innerFields(record: AvroRecord, path: string, names: Names): Map<string, string | undefined> {
  names.set(record.name, record)
  const found = new Map<string, string | undefined>()
  for (const { name, type } of record.fields) {
    const field = path === '' ? name : `${path}.${name}`
    const key = name.toLowerCase()
    if (path !== '') found.set(key, found.has(key) ? undefined : field)
    const shape = shapeOf(type, names)
    if (shape.kind !== 'record') continue
    for (const [inner, at] of innerFields(shape.record, field, names)) found.set(inner, found.has(inner) ? undefined : at)
  }
  return found
}

/** The path of the field that is probably meant, such as `retry.maxAttempts`; undefined if no name says so. */
export function fieldHint(name: string): string | undefined {
  if (name.length > 40) return undefined
  const key = name.toLowerCase().replace(/[-_]/g, '')
  return (Object.hasOwn(foreignNames, key) ? foreignNames[key] : undefined) ?? innerNames.get(key)
}
