/** Signing in to brokers beyond what kafkajs has: tokens of an identity provider, and of AWS. */
export type { ClientCredentials } from './client-credentials.ts'
export { type MskIam, mechanismOf, type Sasl, signsInAs } from './mechanism.ts'
