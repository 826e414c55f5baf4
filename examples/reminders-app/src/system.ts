/** Where the app finds Duelog: at the addresses of `npm start`, unless the environment has others. */
export const cluster = {
  brokers: process.env.KAFKA_BROKERS ?? '127.0.0.1:19092',
  registryUrl: process.env.SCHEMA_REGISTRY_URL ?? 'http://127.0.0.1:18081/apis/ccompat/v7',
  topicPrefix: process.env.DUELOG_TOPIC_PREFIX ?? 'duelog.',
}

/** URL of the HTTP API. */
export const url = process.env.DUELOG_URL ?? 'http://127.0.0.1:8080'
