/**
 * Writes a record to any topic, at least once: for topics that are not allowed as targets, or need a worker's retries. Payload:
 * {"topic", "partition"?, "key"?, "value"?, "headers"?}. Keys, values and header values are text or {"base64"}; null is none.
 */
import { bytesOfBase64, isObject } from '../../../../streams/definitions/index.ts'
import type { LogWriter, RecordOut } from '../../../ground/ports/index.ts'
import type { Handler, Run } from './handler.ts'
import { NonRetryableError } from './handler.ts'

const known = new Set(['topic', 'partition', 'key', 'value', 'headers'])

/**
 * `writer` is called at each run, so that the writer may be opened at the first one. `prefix`: of our own topics, which are
 * refused.
 */
export function kafkaProduceHandler(writer: () => Promise<LogWriter>, prefix: string): Handler {
  return async (run) => {
    const record = recordOf(run, prefix)
    const offsets = await (await writer()).write([record])
    for (const [place, offset] of offsets)
      return { topic: record.topic, partition: Number(place.slice(place.lastIndexOf('/') + 1)), offset }
    return undefined
  }
}

function recordOf({ payload, executionId }: Run, prefix: string): RecordOut {
  if (!isObject(payload)) throw new NonRetryableError('the payload must be JSON like {"topic": "orders", "value": "text"}')
  for (const name of Object.keys(payload)) {
    if (!known.has(name)) throw new NonRetryableError(`payload.${name} is not known; there are ${[...known].join(', ')}`)
  }
  const { topic, partition, headers = {} } = payload
  if (typeof topic !== 'string' || !/^[A-Za-z0-9._-]{1,249}$/.test(topic))
    throw new NonRetryableError('payload.topic must be the name of a topic')
  if (topic.startsWith(prefix)) throw new NonRetryableError(`payload.topic is ${topic}, which is one of Duelog's own`)
  if (partition !== undefined && !(Number.isInteger(partition) && (partition as number) >= 0))
    throw new NonRetryableError('payload.partition must be the number of a partition')
  if (!isObject(headers)) throw new NonRetryableError('payload.headers must be an object')
  const given = Object.entries(headers).map(([name, value]) => [name, bytesOf(`headers.${name}`, value) ?? Buffer.alloc(0)])
  return {
    topic,
    ...(partition === undefined ? {} : { partition: partition as number }),
    key: bytesOf('key', payload.key),
    value: bytesOf('value', payload.value),
    headers: { ...(Object.fromEntries(given) as Record<string, Buffer>), 'duelog-execution-id': executionId },
  }
}

function bytesOf(field: string, value: unknown): Buffer | null {
  if (value === undefined || value === null) return null
  const bytes = typeof value === 'string' ? Buffer.from(value) : isObject(value) ? bytesOfBase64(value.base64) : undefined
  if (bytes === undefined) throw new NonRetryableError(`payload.${field} must be text, {"base64"} with padding, or null`)
  return bytes
}
