/** Connections to brokers, each monitored for silence. */
export { BrokerIsolation } from './broker-isolation.ts'
export {
  brokersOf,
  faultOn,
  kafkaClient,
  type Logger,
  type LogOptions,
  type LogSettings,
  retry,
  settingsOf,
  transactionRetry,
} from './client.ts'
export { closed } from './closing.ts'
