/** Translation of other Kafka schedulers' schedules into jobs. */
export { fromEtf1 } from './etf1.ts'
export type { Translate } from './foreign.ts'
export { fromKarafka } from './karafka.ts'
