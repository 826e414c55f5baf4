/**
 * npm run bench -- CASE [--n N] [--runs R]: one JSON line for each run on stdout, then one with the median of each figure.
 * It brings its own broker and registry unless KAFKA_BROKERS and SCHEMA_REGISTRY_URL are set.
 */
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type BenchCase, benchCases } from '../src/program/cli/commands/bench-cases.ts'
import { accept } from './cases/accept.ts'
import { api } from './cases/api.ts'
import { attacksCase } from './cases/attacks.ts'
import { audit } from './cases/audit.ts'
import { bulk } from './cases/bulk.ts'
import { costs } from './cases/costs.ts'
import { encode } from './cases/encode.ts'
import { floodCases } from './cases/flood-kinds.ts'
import { heavy, heavyWhole } from './cases/heavy.ts'
import { history, historyPostgres } from './cases/history.ts'
import { idle } from './cases/idle.ts'
import { list } from './cases/list.ts'
import { now } from './cases/now.ts'
import { operations } from './cases/operations.ts'
import { partitions } from './cases/partitions.ts'
import { paths } from './cases/paths.ts'
import { precision } from './cases/precision.ts'
import { recurring } from './cases/recurring.ts'
import { restart } from './cases/restart.ts'
import { restore } from './cases/restore.ts'
import { results as resultsCase } from './cases/results.ts'
import { scale } from './cases/scale.ts'
import { stores } from './cases/stores.ts'
import { storm } from './cases/storm.ts'
import { testSystems } from './cases/test-systems.ts'
import { peers } from './peers/run.ts'
import { type Bed, withBed } from './tools/bed.ts'
import { medians } from './tools/medians.ts'

const cases: Record<Exclude<BenchCase, 'peers'>, (bed: Bed, n?: number) => Promise<Record<string, unknown>>> = {
  accept,
  storm,
  precision,
  recurring,
  partitions,
  scale,
  costs,
  now,
  paths,
  restore,
  restart,
  idle,
  api,
  results: resultsCase,
  bulk,
  operations,
  list,
  attacks: attacksCase,
  audit,
  heavy,
  'heavy-whole': heavyWhole,
  stores,
  history,
  'history-postgres': historyPostgres,
  encode,
  'test-systems': testSystems,
  ...floodCases,
}

if (process.argv[2] === 'peers') {
  await peers(process.argv.slice(3))
  process.exit()
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { n: { type: 'string' }, runs: { type: 'string', default: '1' } },
})
const [name = ''] = positionals
const run = Object.hasOwn(cases, name) ? cases[name as keyof typeof cases] : undefined
if (run === undefined) {
  console.error(`There is no case "${name}". Usage: npm run bench -- ${benchCases.join('|')} [--n N] [--runs R]`)
  process.exit(1)
}
/** Some cases start the program with its own broker and registry, others need neither. */
const withoutBed = (task: (bed: Bed) => Promise<void>): Promise<void> => task({ brokers: [], registryUrl: '', replication: 1 })
const bedless = ['restart', 'idle', 'stores', 'encode', 'test-systems', 'history', 'history-postgres']
await (bedless.includes(name) ? withoutBed : withBed)(async (bed) => {
  const results: Record<string, unknown>[] = []
  for (let turn = 0; turn < Number(values.runs); turn++) {
    const result = await run(bed, values.n === undefined ? undefined : Number(values.n))
    results.push(result)
    console.log(JSON.stringify({ case: name, run: turn + 1, cores: cpus().length, ...result }))
  }
  if (results.length > 1) console.log(JSON.stringify({ case: name, median: true, runs: results.length, ...medians(results) }))
})
