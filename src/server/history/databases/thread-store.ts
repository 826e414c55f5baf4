/** The history from the thread of the process: hands each call to the thread of the database. */
import type { Clock } from '../../../ground/clock/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { modulePath, ThreadCalls } from '../../../ground/process/index.ts'
import type { DatabasePlace, WorkerData } from './database-thread.ts'
import type { HistoryStore, StoreCall } from './history-store.ts'
import type { Origin } from './migrations.ts'

/** After this time a call is given up. Searches end by themselves long before. */
const callMsMax = 30_000
/** How long a stop waits for a call in progress. Unwritten records are read again. */
const closeMsMax = 3_000
/** Memory of the thread for objects of JavaScript, in MB; the caches of the databases come in addition. */
const heapMb = 192
/** Calls that wait for the thread. */
const callsMax = 64

const storeCalls = ['positions', 'write', 'removeOld', 'page', 'counts', 'handlers'] as const satisfies readonly StoreCall[]

/** `place`: a SQLite file, or the URL of a PostgreSQL database. */
export function threadStore(place: DatabasePlace, origin: Origin, clock: Clock): HistoryStore {
  const calls = new ThreadCalls({
    what: 'the history',
    file: modulePath('./database-thread', import.meta.url),
    ...{ name: 'history', heapMb, dataOf: (): WorkerData => ({ place, origin }) },
    late: new DuelogError('overloaded', `The database of the history did not answer within ${callMsMax / 1_000} s.`),
    ...{ clock, msMax: callMsMax, endsIt: [] },
  })
  const called = storeCalls.map((name) => [
    name,
    async (...args: unknown[]): Promise<unknown> => {
      if (calls.size < callsMax) return calls.call(name, args)
      throw new DuelogError('overloaded', 'The database of the history is busy; ask again later.')
    },
  ])
  return { ...Object.fromEntries(called), close: () => calls.stop({ name: 'close', msMax: closeMsMax }) }
}
