/**
 * Makes the mutations of the scheduler, of the roles around it, and of its rules, one at a time. The tests that should notice a mutation
 * judge it. Run it by hand or nightly, not in CI. It needs no broker.
 *
 *   node test/mutations/scheduler.ts                                  all mutations
 *   node test/mutations/scheduler.ts D-no-grant 'failure isolation'   the mutations with these names or areas
 *   node test/mutations/scheduler.ts --widely old-store               what its own tests miss, all of test/streams, scheduler and model judge
 *
 * It works in a copy of the project in the folder for temporary files. First the tests must be green without a mutation. A mutation that
 * cannot be made or judged is lost (list-faults.ts); test/house reports that in CI. The exit code is 1 unless every mutation is killed.
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { faultsOf, isSeeds, mutated, seedsOf, testFile } from './list-faults.ts'
import type { Mutation } from './mutation.ts'
import { mutations } from './scheduler-list.ts'

/** A test run that takes longer counts as hanging. */
const hangsAfterMs = 240_000
/** The errors of a mutation that is not valid code. */
const brokenCode = /SyntaxError|ReferenceError|is not defined|Transform failed|PARSE_ERROR|Parse failure/

type SimulatedOutcome = 'killed' | 'survived' | 'lost'
interface Outcome {
  fate: SimulatedOutcome
  /** The test that killed it, or the reason why it is lost. */
  by: string
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const { values, positionals } = parseArgs({ options: { widely: { type: 'boolean', default: false } }, allowPositionals: true })
const chosen = mutations.filter(
  ({ name, area }) => positionals.length === 0 || [name, area].some((it) => positionals.includes(it)),
)
const copy = mkdtempSync(join(tmpdir(), 'duelog-mutations-'))
for (const room of ['schemas', 'streams', 'src', 'bench', 'test', 'docs', 'package.json', 'tsconfig.json', 'vitest.config.ts'])
  cpSync(join(root, room), join(copy, room), { recursive: true, filter: (path) => basename(path) !== 'node_modules' })
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
const outcomes: (Outcome & Mutation)[] = []
try {
  const red = await redWithoutMutation()
  if (red !== undefined) console.log(`The tests are red without any mutation, so they prove nothing: ${red}`)
  else for (const mutation of chosen) outcomes.push({ ...mutation, ...(await simulatedOutcomeOf(mutation)) })
} finally {
  rmSync(copy, { recursive: true })
}
tell()

async function redWithoutMutation(): Promise<string | undefined> {
  const judges = new Set(chosen.filter((mutation) => faultsOf(mutation, textOf).length === 0).flatMap(({ judges }) => judges))
  const seeds = [...judges].filter(isSeeds)
  const widest = seeds.sort((left, right) => (seedsOf(right)?.[1] ?? 0) - (seedsOf(left)?.[1] ?? 0)).slice(0, 1)
  const by = await redIn([...[...judges].filter((judge) => !isSeeds(judge)), ...widest])
  return by?.name
}

async function simulatedOutcomeOf(mutation: Mutation): Promise<Outcome> {
  const { name, file, find, replace, judges } = mutation
  const path = join(copy, file)
  const text = textOf(file)
  const startedAt = performance.now()
  const fate = await (async (): Promise<Outcome> => {
    const faults = faultsOf(mutation, textOf)
    if (text === undefined || faults.length > 0) return { fate: 'lost', by: faults.join(', ') }
    writeFileSync(path, mutated(text, find, replace))
    let red = await redIn(judges)
    if (red === undefined && values.widely) red = await redAnywhere()
    if (red === undefined) return { fate: 'survived', by: judges.join(', ') }
    return brokenCode.test(red.said) ? { fate: 'lost', by: `it is no code: ${red.name}` } : { fate: 'killed', by: red.name }
  })()
  if (text !== undefined) writeFileSync(path, text)
  console.log(`${fate.fate} ${name} in ${Math.round((performance.now() - startedAt) / 1_000)} s: ${fate.by}`)
  return fate
}

interface Red {
  name: string
  said: string
}

/** Returns the test that fails first. Directed tests are fast, so they run before the seeds. */
async function redIn(judges: readonly string[]): Promise<Red | undefined> {
  const directed = judges.filter((judge) => !isSeeds(judge)).map(testFile)
  const red = directed.length === 0 ? undefined : await redOf(directed, {})
  if (red !== undefined) return red
  for (const judge of judges) {
    const [first, last] = seedsOf(judge) ?? []
    if (first === undefined || last === undefined) continue
    const histories = { DUELOG_MODEL_FIRST_SEED: String(first), DUELOG_MODEL_HISTORIES: String(last - first + 1) }
    const inSeeds = await redOf(['test/model/cluster/cluster.test.ts'], histories)
    if (inSeeds !== undefined) return inSeeds
  }
  return undefined
}

function redAnywhere(): Promise<Red | undefined> {
  return redOf(['test/scheduler', 'test/model', 'test/streams'], {})
}

async function redOf(files: readonly string[], more: Record<string, string>): Promise<Red | undefined> {
  const brokers = { DUELOG_TEST_BROKERS: '127.0.0.1:1', DUELOG_TEST_REGISTRY: 'http://127.0.0.1:1' }
  const env = { ...process.env, NODE_ENV: 'production', NO_COLOR: '1', ...brokers, ...more }
  const args = ['run', '--bail=1', '--maxWorkers=1', '--reporter=dot', ...files]
  // Its own process group, so that a worker that never returns ends too.
  const vitest = spawn(join(root, 'node_modules/.bin/vitest'), args, { cwd: copy, env, detached: true })
  let said = ''
  for (const stream of [vitest.stdout, vitest.stderr])
    stream.on('data', (data) => {
      said += data
    })
  const { promise, resolve } = Promise.withResolvers<number | 'hangs'>()
  vitest.on('close', (code) => resolve(code ?? 1))
  const timer = setTimeout(() => {
    resolve('hangs')
    process.kill(-(vitest.pid ?? 0), 'SIGKILL')
  }, hangsAfterMs)
  const status = await promise
  clearTimeout(timer)
  if (status === 0) return undefined
  if (status === 'hangs') return { name: 'it hangs', said }
  const [, seed] = /"(\d+)": \[/.exec(said) ?? []
  const [, test = 'no test, but the run failed'] = /FAIL\s+(.*)/.exec(said) ?? []
  return { name: seed === undefined ? test.replace(/^test\//, '') : `seed ${seed}`, said }
}

function textOf(path: string): string | undefined {
  return existsSync(join(copy, path)) ? readFileSync(join(copy, path), 'utf8') : undefined
}

function tell(): void {
  const wide = (of: (outcome: Outcome & Mutation) => string): number => Math.max(0, ...outcomes.map((each) => of(each).length))
  const [nameWidth, areaWidth] = [wide(({ name }) => name), wide(({ area }) => area)]
  console.log('')
  for (const { fate, name, area, why, by } of outcomes)
    console.log(`${fate.padEnd(9)} ${area.padEnd(areaWidth)} ${name.padEnd(nameWidth)} ${why} (${by})`)
  const count = (fate: SimulatedOutcome): number => outcomes.filter((outcome) => outcome.fate === fate).length
  console.log(`\n${outcomes.length} mutations: ${count('killed')} killed, ${count('survived')} survived, ${count('lost')} lost`)
  process.exitCode = outcomes.length > 0 && count('killed') === outcomes.length ? 0 : 1
}
