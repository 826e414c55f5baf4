/** history, history-postgres: searches and counts among many ended runs, in the database of the role history. */
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { systemClock } from '../../src/ground/clock/clock.ts'
import type { HistoryFilter } from '../../src/ground/ports/roles.ts'
import type { DatabasePlace } from '../../src/server/history/databases/database-thread.ts'
import type { HistoryStore } from '../../src/server/history/databases/history-store.ts'
import { migrate } from '../../src/server/history/databases/migrations.ts'
import { openPostgres } from '../../src/server/history/databases/postgres.ts'
import { rowOf } from '../../src/server/history/databases/rows.ts'
import type { Database } from '../../src/server/history/databases/sql.ts'
import { openSqlite } from '../../src/server/history/databases/sqlite.ts'
import { threadStore } from '../../src/server/history/databases/thread-store.ts'
import { days, endMs, fillingOf, jobIdOf, runOf, startMs } from '../tools/ended-runs.ts'
import { startPostgresServer } from '../tools/postgres-server.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const origin = { topic: 'bench.runs', clusterId: 'bench' }
const written = 100_000
const writtenTogether = 500
/** A statement of the filling may take this long. */
const fillMsMax = 3_600_000
const pageLimit = 100
const turns = 5

/** `n`: ended runs, over 90 days. Time is that of the slowest of five searches, in ms, from the question to the answer of the thread. */
export async function history(_bed: unknown, n = 1_000_000): Promise<Record<string, number | string>> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-history-'))
  const open = async (name: string) => {
    const path = join(folder, name)
    const bytes = async (): Promise<number> => (await stat(path)).size
    return { place: { path }, database: async () => openSqlite(path), bytes }
  }
  try {
    return await measured(open, n)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export async function historyPostgres(_bed: unknown, n = 1_000_000): Promise<Record<string, number | string>> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-history-'))
  const server = await startPostgresServer(folder)
  if (server === undefined) throw new Error('history-postgres needs PostgreSQL (Debian: apt-get install postgresql).')
  const open = async (name: string) => {
    const url = await server.create(name)
    const bytes = async (): Promise<number> => Number(await server.value(`select pg_database_size('${name}')`, name))
    return { place: { url }, database: async () => openPostgres(url, fillMsMax), bytes }
  }
  try {
    return await measured(open, n)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

interface Opened {
  place: DatabasePlace
  database(): Promise<Database>
  bytes(): Promise<number>
}

async function measured(open: (name: string) => Promise<Opened>, n: number): Promise<Record<string, number | string>> {
  const results: Record<string, number | string> = { n, ...(await writing(await open('written'))) }
  const filled = await open('filled')
  const database = await filled.database()
  await migrate(database, origin)
  for (const statement of fillingOf(database.dialect, n)) await database.all(statement, [])
  await database.close()
  results.bytesPerRunFilled = Math.round((await filled.bytes()) / n)
  const store = threadStore(filled.place, origin, systemClock)
  // The thread has opened the database before the first search.
  await store.positions()
  const loop = monitorEventLoopDelay({ resolution: 5 })
  loop.enable()
  try {
    for (const [name, filterOf] of Object.entries(searches))
      results[name] = await slowest((turn) => search(store, filterOf(turn, n)))
    for (const [name, [filterOf, rangeMs, bucketMs]] of Object.entries(counts)) {
      const range = { from: endMs - rangeMs, to: endMs }
      results[name] = await slowest(async (turn) => {
        const { countedFrom } = await store.counts({ ...filterOf(turn, n), ...range }, bucketMs)
        return countedFrom === null ? '' : ` (down to ${Math.round(((endMs - countedFrom) / rangeMs) * 100)} %)`
      })
    }
    return { ...results, eventLoopMaxMs: Math.round(loop.max / 1e6) }
  } finally {
    await store.close()
  }
}

/** Speed and size as the role writes, 500 runs in each transaction. */
async function writing({ place, bytes }: Opened): Promise<Record<string, number>> {
  const store = threadStore(place, origin, systemClock)
  try {
    const beganMs = performance.now()
    for (let first = 0; first < written; first += writtenTogether) {
      const rows = Array.from({ length: writtenTogether }, (_, index) => rowOf(runOf(first + index)))
      await store.write(0, first + writtenTogether, rows as Exclude<(typeof rows)[number], string>[])
    }
    const writeS = (performance.now() - beganMs) / 1_000
    return { writtenPerSecond: Math.round(written / writeS), bytesPerRunWritten: Math.round((await bytes()) / written) }
  } finally {
    await store.close()
  }
}

/** The first page. Says how much of the time was searched if the search had to end before the page was full. */
async function search(store: HistoryStore, filter: HistoryFilter): Promise<string> {
  const page = await store.page(filter, pageLimit, null)
  if (page.next === null || page.runs.length === pageLimit) return ''
  return ` (${page.runs.length} runs, ${Math.round(((endMs - (page.searchedTo ?? 0)) / (endMs - startMs)) * 100)} % searched)`
}

/** The longest of several turns, in ms, with what the task says about it. */
async function slowest(task: (turn: number) => Promise<string>): Promise<number | string> {
  let longest = 0
  let note = ''
  for (let turn = 0; turn < turns; turn++) {
    const beganMs = performance.now()
    const said = await task(turn)
    longest = Math.max(longest, performance.now() - beganMs)
    if (said !== '') note = said
  }
  const ms = Number(longest.toPrecision(3))
  return note === '' ? ms : `${ms}${note}`
}

type FilterOf = (turn: number, n: number) => HistoryFilter

const searches: Record<string, FilterOf> = {
  newest: () => ({}),
  dayInTheMiddle: (turn) => ({ from: startMs + (40 + turn) * dayMs, to: startMs + (41 + turn) * dayMs }),
  job: (turn) => ({ jobId: jobIdOf(turn * 977) }),
  rarePrefix: (turn) => ({ idPrefix: `job-0${turn}12` }),
  commonPrefix: () => ({ idPrefix: 'job-' }),
  tag: (turn) => ({ tag: `customer-${turn * 31}` }),
  commonTag: (turn) => ({ tag: `team-${turn}` }),
  handler: (turn) => ({ handler: `handler-${turn}` }),
  rareHandler: () => ({ handler: 'rare' }),
  pool: (turn) => ({ pool: `pool-${turn % 4}` }),
  dead: () => ({ outcome: 'DEAD' }),
  handlerDead: (turn) => ({ handler: `handler-${turn}`, outcome: 'DEAD' }),
  tagDead: (turn) => ({ tag: `team-${turn}`, outcome: 'DEAD' }),
  tagHandlerPool: (turn) => ({ tag: `customer-${turn}`, handler: 'handler-1', pool: 'pool-1' }),
  errorType: (turn) => ({ errorType: `Error${turn}` }),
  errorText: (turn) => ({ errorText: `account ${turn}7` }),
  errorTextNone: () => ({ errorText: 'no error says this' }),
  long: () => ({ minDurationMs: 59_990 }),
  notShort: () => ({ minDurationMs: 30_000 }),
  handlerLong: (turn) => ({ handler: `handler-${turn}`, minDurationMs: 59_000 }),
}

const counts: Record<string, [FilterOf, rangeMs: number, bucketMs: number]> = {
  countsOfADay: [() => ({}), dayMs, hourMs],
  countsOf90Days: [() => ({}), days * dayMs, hourMs],
  countsOfAHandler: [(turn) => ({ handler: `handler-${turn}` }), days * dayMs, dayMs],
  countsByTheMinute: [() => ({}), dayMs, 60_000],
  countsOfAJob: [(turn) => ({ jobId: jobIdOf(turn * 977) }), days * dayMs, dayMs],
  countsOfATag: [(turn) => ({ tag: `customer-${turn * 31}` }), days * dayMs, dayMs],
  countsOfACommonTag: [(turn) => ({ tag: `team-${turn}` }), days * dayMs, dayMs],
  countsOfAnErrorText: [(turn) => ({ errorText: `account ${turn}7` }), days * dayMs, dayMs],
}
