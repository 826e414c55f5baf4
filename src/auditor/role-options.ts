/** What the role auditor is given. */
import type { Logger } from 'pino'
import type { TopicNames } from '../../streams/topics/index.ts'
import type { Clock } from '../clock/index.ts'
import type { Metrics } from '../metrics/index.ts'
import type { Log } from '../ports/index.ts'
import type { AccountStore } from './ledger.ts'
import type { Pacing } from './pacing.ts'
import type { FactCodecs } from './record-facts.ts'

export interface AuditorRoleOptions {
  log: Log & { topics(): Promise<string[]> }
  codecs: FactCodecs
  names: TopicNames
  /** name@host:pid:boot. */
  instance: string
  /** Shown to other processes in the group, as `{ url }`: where they ask for the proof. */
  userData: () => unknown
  stores: {
    open(partition: number): Promise<{ store: AccountStore & { close(): Promise<void> }; wiped: string | undefined }>
  }
  clock: Clock
  metrics: Metrics
  logger: Logger
  pacing: Pacing
  /** How long after its due time something may still be on its way, in ms. */
  graceMs: number
}
