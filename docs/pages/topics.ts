/** docs/TOPICS.md: the topics and records of Duelog in Kafka, from streams/topics/topics.ts and the schemas of the values. */
import { recordSchemas } from '../../schemas/index.ts'
import {
  emptyReadsMax,
  fixedReadsMax,
  schemaCharsMax,
  schemaRecordsMax,
  schemaTypesMax,
} from '../../src/log/kafka/avro/avro-type.ts'
import { schemaNames } from '../../src/log/kafka/avro/codecs.ts'
import { replyHeaders, sourceHeader } from '../../streams/jobs/receipt.ts'
import { observedDeleteAtHeader, observedOffsetHeader, onlyNewHeader, onlyOverHeader } from '../../streams/state/condition.ts'
import { appendedAtHeader, movedHeader } from '../../streams/topics/log-records.ts'
import { type TopicPlan, topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { fieldTable } from './fields.ts'
import { code, heading, page, table } from './markdown.ts'

const names = topicNames('duelog.')
const plans = topicPlans(names, ['default'])

/** Writers and readers of a topic. */
function trafficOf({ topic, schema }: TopicPlan): [writer: string, reader: string] {
  if (schema === 'job-definition') return ['any producer, client, API, intake', 'owner']
  if (schema === 'job-command') return ['API', 'owner']
  if (schema === 'job-state') return ['owner', 'owner']
  if (schema === 'execution-event') return ['workers, retry forwarder', 'owner']
  if (schema === 'worker-control') return ['owner', 'every worker']
  if (schema === 'audit-event') return ['API', 'API, people']
  if (schema === 'run-log') return ['workers', 'API']
  if (schema === 'operation') return ['API', 'API']
  if (schema === 'pause') return ['API', 'owners, workers, API']
  if (schema === 'ended-run') return ['owner', 'people, ksqlDB, Connect']
  if (schema === 'dead-letter') return ['owner', 'people, alerting']
  return topic.startsWith(names.retry('')) ? ['owner', 'retry forwarder'] : ['owner', 'workers of the pool']
}

/** Groups, transactional ids and headers. */
const namesOfOthers = [
  [
    code(names.group('scheduler')),
    'consumer group of the owners; partition *i* of `jobs`, `job-commands`, `execution-events` and `job-state` goes to one member',
  ],
  [code(names.group('exec.<pool>')), 'consumer group of the workers of a pool'],
  [
    code(names.group('control.<pool>.<worker>')),
    'consumer group of one worker, which reads all of `worker-control` and commits nothing; the broker forgets it when the worker has left',
  ],
  [
    code(names.group('audit.<process>')),
    'consumer group of one process whose audit trail was asked for; the broker forgets it when the process has left',
  ],
  [code(names.group('operations')), 'consumer group of the API processes that carry out operations; it commits nothing'],
  [
    code(names.group('operations.<process>')),
    'consumer group of one process whose operations were asked for; the broker forgets it when the process has left',
  ],
  [
    code(names.group('control.pauses:<process>')),
    'consumer group of one process, which reads all of `pauses` and commits nothing; the broker forgets it when the process has left',
  ],
  [code(names.group('auditor')), 'consumer group of the auditors; it commits nothing'],
  [code(names.group('retry')), 'consumer group of the retry forwarders'],
  [code(names.group('intake')), 'consumer group of the intake of foreign schedules'],
  [
    code(names.group('carried')),
    'consumer group and transactional id of `duelog carry`: how far the topics of the system before a restore are carried over',
  ],
  [code(names.group('intake-<topic>-<partition>')), 'transactional id of the intake of one partition of foreign schedules'],
  [code(names.group('scheduler-<partition>')), "transactional id of a partition's owner"],
  [
    `${code(observedOffsetHeader)}, ${code(observedDeleteAtHeader)}`,
    'headers of a tombstone that Duelog wrote for a completed job: it counts only if the job was not defined again after that offset, and is still to be deleted at that time',
  ],
  [
    code(onlyOverHeader),
    'header of a definition or a tombstone: it counts only while the definition at this offset of the partition is in force, or with `*` while there is one. The API writes it for If-Match',
  ],
  [
    code(onlyNewHeader),
    'header of a definition: it counts only if no other is in force. The API writes it for POST /v1/jobs with an Idempotency-Key',
  ],
  [
    `${code(replyHeaders.topic)}, ${code(replyHeaders.correlationId)}`,
    'headers of a record on `jobs` that asks for a receipt, see [TARGETS](TARGETS.md)',
  ],
  [code(sourceHeader), 'header of a definition that was made from a foreign schedule: the offset of that record'],
  [
    code(appendedAtHeader),
    'header of a definition that a restore, `duelog carry` or a move to another partition has copied: its first append time, epoch ms, from which delays, intervals and `dedupWindowMs` count. A time later than that of the broker is ignored',
  ],
  [code(movedHeader), 'header of the tombstone that a definition left behind when it was moved to the partition of its job'],
]

export function topicsPage(): string {
  const rows = plans.map((plan) => {
    const { 'cleanup.policy': cleanup = '', ...settings } = plan.config
    const [writer, reader] = trafficOf(plan)
    const more = Object.entries(settings).map(([name, value]) => code(`${name}=${value}`))
    return [code(plan.topic), code(`${plan.schema}.avsc`), cleanup, more.join(' '), writer, reader]
  })
  const records = schemaNames.filter((name) => name !== 'job-definition')
  return page(
    heading(
      'Topics',
      'streams/topics/topics.ts and schemas/*.avsc',
      'All topics have the same number of partitions, that with which they were created; [another number](how-to/backup-and-reshard.md#another-number-of-partitions) means other topics. Keys are job ids in UTF-8 (in `job-state` a one-byte prefix and the id, see `streams/state/keys.ts`). Values are Avro in the Confluent wire format under the subject `<topic>-value`. Each schema is backward compatible with all earlier versions.',
    ),
    table(['Topic', 'Value', 'Cleanup', 'Settings', 'Written by', 'Read by'], rows),
    [
      'The prefix is `DUELOG_TOPIC_PREFIX`; each pool of `DUELOG_POOLS` has its own six `executions` topics. Duelog creates what is missing and refuses to start on a topic whose cleanup, timestamp type, retention or number of partitions could lose jobs or fire them twice (`unsafe-topic`). A retention is refused if it is shorter than a day. If Duelog plans less than a day for the topic, it is refused only if it is shorter than the plan.\n\nRecords that are not read within the retention of their topic are lost: commands and reports while a partition has no owner, and cancellations for a worker that was unreachable for an hour. A run continues without them, by its lease, its timeout and its start deadline. The run is dispatched again if its end was not received. If a delay topic lost a retry whose tier ends the backoff, the next attempt is a minute late. An execution expires before its topic loses it.',
      '',
      '## Writing jobs from another language',
      '',
      "- Use any Kafka client with a Confluent serializer; the schema is `schemas/job-definition.avsc`. Use the **murmur2** partitioner of Kafka's own Java client (librdkafka: `partitioner=murmur2_random`). The owner moves a record that is in the wrong partition, exactly once, and counts it in `duelog_misrouted_total`. It refuses such a record of more than 900,000 bytes. The same holds for commands and events.",
      '- **`{tag}`**: if a job id has text between the first `{` and the next `}`, only that text chooses the partition, as in Redis Cluster. Jobs that share a tag, such as `{customer-7}invoice` and `{customer-7}reminder`, are in one partition and have one owner. Duelog writes them there itself. A record that a producer wrote by the hash of the whole key is moved, and arrives some milliseconds later.',
      '- Write to `jobs` idempotently. A transaction works too; the owner of the partition waits for its end.',
      '- Compress by gzip, zstd or not at all. A whole batch is skipped if it is compressed in another way, has more than 150,000 records, or has more than 16 MiB when decompressed. It is logged with its offset and counted in `duelog_invalid_total{reason="unreadable"}`. The same holds for a record with more than 5,000 headers.',
      `- A record may be written with any Avro schema of the registry that a reader with our schema can resolve. The schema has at most ${schemaCharsMax.toLocaleString('en')} characters, ${schemaTypesMax.toLocaleString('en')} types and ${schemaRecordsMax} records. One of its values always holds at most ${fixedReadsMax.toLocaleString('en')} others, and at most ${emptyReadsMax} of those take no byte. Records with another schema cannot be decoded.`,
      '- Read `executions.*`, `retry.*`, `executions.dlq` and `job-state` with `read_committed`: a record of an aborted transaction is no execution.',
      '',
      '## Groups, ids and headers',
    ].join('\n'),
    table(['Name', 'Meaning'], namesOfOthers),
    ...records.map((name) => `## ${name}\n\n${recordSchemas[name].doc}\n\n${fieldTable(recordSchemas[name])}`),
    '## job-definition\n\nSee [JOBS.md](JOBS.md).',
  )
}
