/** All faults, in the order of a whole drill. */
import * as answers from './answer-faults.ts'
import * as brokers from './broker-faults.ts'
import * as changes from './change-faults.ts'
import type { Fault } from './fault.ts'
import * as load from './load-faults.ts'
import * as network from './network-faults.ts'
import * as owners from './owner-faults.ts'
import * as stores from './store-faults.ts'
import * as surroundings from './surroundings.ts'

export const faults: readonly Fault[] = [
  ...Object.values<Fault>(owners),
  ...Object.values<Fault>(brokers),
  ...Object.values<Fault>(network),
  ...Object.values<Fault>(stores),
  ...Object.values<Fault>(surroundings),
  ...Object.values<Fault>(answers),
  ...Object.values<Fault>(load),
  ...Object.values<Fault>(changes),
]
