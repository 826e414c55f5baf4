/** `duelog topics …` as an administrator who may do everything. */
import { duelogHere } from '../cli/built-program.ts'

export const topicsCommandOn =
  (brokers: () => string[], pools: readonly string[]) =>
  (prefix: string, target: string, foreign: string, ...args: string[]) =>
    duelogHere(['topics', ...args, '--replication', '1', '--partitions', '1'], {
      env: {
        KAFKA_BROKERS: brokers().join(','),
        DUELOG_TOPIC_PREFIX: prefix,
        DUELOG_POOLS: pools.join(','),
        DUELOG_TARGET_TOPICS: target,
        DUELOG_INTAKE_ETF1_TOPICS: foreign,
      },
    })
