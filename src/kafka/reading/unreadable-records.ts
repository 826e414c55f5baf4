/** Reports unreadable records before they are skipped: never silently. Their partition continues. */
import type { KafkaMessage } from 'kafkajs'
import type { TopicPartition } from '../../ports/index.ts'
import type { LogSettings } from '../brokers/index.ts'
import type { FetchedMessage } from '../decoding/index.ts'

/** Why the message represents unreadable records; undefined for nearly all. */
export const unreadOf = (message: KafkaMessage): FetchedMessage['unread'] => (message as Pick<FetchedMessage, 'unread'>).unread

export function reportUnread(messages: readonly KafkaMessage[], place: TopicPartition, settings: LogSettings): void {
  for (const message of messages) {
    const unread = unreadOf(message)
    if (unread === undefined) continue
    const { topic, partition } = place
    const { firstOffset, problem } = unread
    settings.onUnread?.()
    settings.logger.error(
      { event: 'records-unreadable', topic, partition, firstOffset, offset: Number(message.offset) },
      `Records of ${topic}/${partition} cannot be read and are skipped: ${problem}`,
    )
  }
}
