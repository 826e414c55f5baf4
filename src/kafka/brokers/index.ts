/** Connections to brokers, each monitored for silence. */
export { BrokerIsolation } from './broker-isolation.ts'
export {
  brokersOf,
  createKafka,
  type Logger,
  type LogOptions,
  type LogSettings,
  principalOf,
  retry,
  settingsOf,
  transactionRetry,
} from './client.ts'
