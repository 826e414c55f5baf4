/** One partition of one delay topic: its read position, and the pause until its head is due. */
import type { TopicPartition } from '../../ground/ports/index.ts'
import type { RetrierOptions } from './options.ts'

export class TierLane implements TopicPartition {
  readonly topic: string
  readonly partition: number
  readonly tier: string
  readonly delayMs: number
  owned = false
  /** Next offset to forward; undefined until something was read since the lane was gained. */
  next: number | undefined
  /** Some of the last batch was not forwarded. */
  isBehind = false
  /** When the first record that was read and not forwarded should be forwarded, epoch ms; undefined: there is none. */
  headDueAt: number | undefined
  /** Set while the lane is paused: cancels its timer. */
  cancelWait: (() => void) | undefined

  constructor(topic: string, partition: number, tier: { name: string; delayMs: number }) {
    this.topic = topic
    this.partition = partition
    this.tier = tier.name
    this.delayMs = tier.delayMs
  }

  /** The records that are in the log now are forwarded as usual. Owners detect lost retries by themselves. */
  startOver(end: number, { metrics, logger }: Pick<RetrierOptions, 'metrics' | 'logger'>): void {
    const { topic, partition, next } = this
    metrics.positionsReset.inc({ topic, reason: 'beyond-end' })
    logger.error(
      { event: 'position-reset', topic, partition, offset: next, end },
      `${topic}/${partition} ends before what was read of it: it was truncated, or deleted and created again. It is read from its beginning.`,
    )
    this.next = undefined
    this.headDueAt = undefined
  }

  lose(): void {
    this.owned = false
    this.isBehind = false
    this.next = undefined
    this.headDueAt = undefined
    this.cancelWait?.()
    this.cancelWait = undefined
  }
}
