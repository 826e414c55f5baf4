/** Records for the outputs of a decision. */
import type { Execution } from '../../../schemas/index.ts'
import type { Decision } from '../../../streams/state/index.ts'
import { partitionOf, type TopicNames } from '../../../streams/topics/index.ts'
import type { RecordOut } from '../../ports/index.ts'
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
  ...{ payload: null, contentType: null, headers: {}, httpTarget: null, topicTarget: null, cause: null },
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
