/**
 * Settings of one of three brokers that are also controllers. Settings that decide how long Kafka takes to recover keep their
 * defaults, unless the caller gives them.
 */
import type { BrokerListeners } from '../network/network.ts'

export function brokerProperties(
  nodeId: number,
  net: BrokerListeners,
  logDir: string,
  more: Readonly<Record<string, string>>,
): string {
  const settings: Record<string, string | number | boolean> = {
    'process.roles': 'broker,controller',
    'node.id': nodeId,
    'controller.quorum.voters': net.voters,
    listeners: net.listeners,
    'advertised.listeners': net.advertised,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': net.interBroker,
    'listener.security.protocol.map': net.protocols,
    'log.dirs': logDir,
    'num.partitions': 12,
    'auto.create.topics.enable': false,
    'default.replication.factor': 3,
    'min.insync.replicas': 2,
    'offsets.topic.replication.factor': 3,
    'offsets.topic.num.partitions': 12,
    'transaction.state.log.replication.factor': 3,
    'transaction.state.log.min.isr': 2,
    'transaction.state.log.num.partitions': 12,
    'share.coordinator.state.topic.replication.factor': 3,
    'share.coordinator.state.topic.num.partitions': 1,
    // A member whose session is over must be told within seconds, as on the embedded broker.
    'group.min.session.timeout.ms': 1_000,
    'message.max.bytes': 4 * 1024 * 1024,
    // Buffers and threads fit three brokers on one small machine.
    'log.cleaner.threads': 1,
    'log.cleaner.dedupe.buffer.size': 16 * 1024 * 1024,
    'num.network.threads': 2,
    'num.io.threads': 4,
    ...more,
  }
  return `${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`
}
