/** Records for the outputs of a decision, and the trace context that they take along. */
import type { EndedRun, Execution } from '../../../schemas/index.ts'
import { noTarget, recordHeaders } from '../../../streams/runs/index.ts'
import { type Decision, executionIdOf, type Job, type TopicRecord } from '../../../streams/state/index.ts'
import { type TraceContext, traceContextBytesMax, traceContextOf } from '../../../streams/text/index.ts'
import { partitionOf, type TopicNames } from '../../../streams/topics/index.ts'
import type { RecordOut } from '../../ground/ports/index.ts'
import type { CycleSpans } from '../../ground/tracing/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'

/** Outputs in the transaction that go to topics of Duelog. */
export type OwnOutput = Exclude<Decision['out'][number], { kind: 'record' | 'tombstone' }>

export interface OutputPlace {
  partition: number
  partitions: number
  names: TopicNames
  codecs: SchedulerCodecs
}

export function outputRecord({ partition, partitions, names, codecs }: OutputPlace, key: string, output: OwnOutput): RecordOut {
  switch (output.kind) {
    case 'dispatch': {
      const { execution, ahead, to } = output
      if (to !== null) return sentRunRecord({ partition, names, codecs }, key, execution, to)
      const value = codecs.execution.encode(execution)
      return { topic: names.executions(execution.pool, execution.priority, ahead), partition, key, value }
    }
    case 'redeliver':
      return sentRunRecord({ partition, names, codecs }, key, output.execution, output.to)
    case 'retry':
      return { topic: names.retry(output.tier.name), partition, key, value: codecs.execution.encode(nameOf(output.execution)) }
    case 'dead-letter': {
      const value = codecs.deadLetter.encode({ ...output.letter, execution: codecs.execution.encode(output.execution) })
      return { topic: names.deadLetters, partition, key, value }
    }
    case 'cancel': {
      const { runNo, attempt, specOffset, reason } = output
      const value = codecs.control.encode({ type: 'CANCEL', jobId: key, runNo, attempt, specOffset, reason })
      return { topic: names.control, partition, key, value }
    }
    case 'trigger': {
      const { jobId, commandId, at, chainDepth, chainLeft, cause } = output
      const actor = `job ${key}`
      const link = { chainDepth, chainLeft, cause }
      const value = codecs.command.encode({ type: 'TRIGGER', trigger: 'FOLLOW_UP', commandId, at, actor, ...link })
      return { topic: names.commands, partition: partitionOf(jobId, partitions), key: jobId, value }
    }
  }
}

/** The forwarder needs the identity of the attempt only; the rest is in its definition or snapshot. */
const nameOf = (execution: Execution): Execution => ({
  ...execution,
  ...{ payload: null, contentType: null, headers: {}, ...noTarget, cause: null },
})

/** A run for one worker goes to it on a topic of its own. */
function sentRunRecord(
  { partition, names, codecs }: Omit<OutputPlace, 'partitions'>,
  key: string,
  execution: Execution,
  instance: string,
): RecordOut {
  const { jobId, runNo, attempt, specOffset } = execution
  const framed = codecs.execution.encode(execution)
  const value = codecs.control.encode({
    type: 'RUN',
    jobId,
    runNo,
    attempt,
    specOffset,
    instance,
    execution: framed,
  })
  return { topic: names.control, partition, key, value }
}

/** A larger record goes without a context, because nothing may make it outgrow the limits of the log. */
const tracedBytesMax = 900_000

/** The trace context that the records of a commit cycle take along: to workers, to topics of users, and to the history. */
export class DispatchTraces {
  readonly #spans: CycleSpans
  /** Contexts of the runs that went to topics of users, by their execution id. */
  readonly #ofTopics = new Map<string, TraceContext>()

  constructor(spans: CycleSpans) {
    this.#spans = spans
  }

  /** The record that carries an Execution to a worker. */
  execution(job: Job, execution: Execution, record: RecordOut): RecordOut {
    if (isLarge(record.value)) return record
    const parent = isOnce(job) ? traceContextOf(execution.headers) : undefined
    const context = this.#spans.dispatched(parent, () => {
      const { jobId, runNo, attempt, trigger, handler, pool, scheduledFor, headers } = execution
      const { topic, partition } = record
      const origin = parent ?? traceContextOf(headers)
      const executionId = executionIdOf(execution)
      return { jobId, executionId, runNo, attempt, trigger, handler, pool, scheduledFor, topic, partition, origin }
    })
    return context === undefined ? record : { ...record, headers: { ...record.headers, ...context } }
  }

  /** The record of a run whose target is a topic. It has the headers of its definition. */
  topicRecord(job: Job, record: TopicRecord, scheduledFor: number): TopicRecord {
    if (isLarge(record.value) || headerBytes(record.headers) > tracedBytesMax / 10) return record
    const executionId = String(record.headers[recordHeaders.executionId])
    const parent = isOnce(job) ? traceContextOf(record.headers) : undefined
    const context = this.#spans.dispatched(parent, () => {
      const runNo = Number(record.headers[recordHeaders.runNo])
      const { topic, partition } = record
      const origin = parent ?? traceContextOf(record.headers)
      return { jobId: job.id, executionId, runNo, scheduledFor, topic, partition: partition ?? undefined, origin }
    })
    if (context === undefined || context === parent) return record
    this.#ofTopics.set(executionId, context)
    const { traceparent: _, tracestate: __, ...headers } = record.headers
    return { ...record, headers: { ...headers, ...context } }
  }

  /** The record of an ended run names the trace in which it ran, if that is known; otherwise that of its definition. */
  endedRun(run: EndedRun, reported: { runNo: number; traceparent: string } | undefined): EndedRun {
    const traceparent = reported?.runNo === run.runNo ? reported.traceparent : this.#ofTopics.get(executionIdOf(run))?.traceparent
    return traceparent === undefined ? run : { ...run, traceparent }
  }
}

/** Whether the definition makes one run only, so that the run belongs to what its definition belongs to. */
const isOnce = ({ definition }: Job): boolean => {
  const schedule = definition?.spec?.schedule
  return schedule !== undefined && (schedule.at !== null || schedule.delayMs !== null)
}

const isLarge = (value: Buffer | null): boolean => (value?.length ?? 0) + traceContextBytesMax > tracedBytesMax

function headerBytes(headers: TopicRecord['headers']): number {
  let bytes = 0
  for (const [name, value] of Object.entries(headers)) bytes += name.length + value.length
  return bytes
}
