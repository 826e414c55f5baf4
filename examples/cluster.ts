/** The addresses at which the examples find Duelog: those of `npm start`, unless the environment has others. */
export const cluster = {
  brokers: process.env.KAFKA_BROKERS ?? '127.0.0.1:19092',
  registryUrl: process.env.SCHEMA_REGISTRY_URL ?? 'http://127.0.0.1:18081/apis/ccompat/v7',
  topicPrefix: process.env.DUELOG_TOPIC_PREFIX ?? 'duelog.',
}

/** URL of the HTTP API. */
export const apiUrl = process.env.DUELOG_URL ?? 'http://127.0.0.1:8080'

/** Signs webhooks, as examples/README.md gives it to Duelog. A real one is a secret. */
export const signingKey = process.env.DUELOG_HTTP_SIGNING_KEY ?? 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE='
