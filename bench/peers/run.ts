/**
 * npm run bench -- peers: Duelog beside other job schedulers and bare kafkajs, on this machine. Runs are interleaved: in each round
 * every system has its turn, in another order, with new processes and empty topics, databases and keys.
 *
 *   --runs R          rounds; default 5
 *   --cases A,B       default: all of cases.ts
 *   --systems A,B     default: all whose server is installed
 *   --n N             jobs of bulk and storm; default 100,000
 *   --seconds S       duration of precision; default 60
 *   --publish         writes the results, the table and the plot into docs
 *
 * One JSON line for each run, then the table. The packages of the other systems are installed at the first use.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { type CaseName, canRun, caseNames, runCase } from './cases.ts'
import { publish, type RunResult, tableOf } from './report.ts'
import { withServers } from './servers.ts'
import { type SystemName, systemNames, systems } from './systems/all.ts'

export async function peers(args: string[]): Promise<void> {
  const text = { type: 'string' } as const
  const options = { runs: text, cases: text, systems: text, n: text, seconds: text, publish: { type: 'boolean' } } as const
  const { values } = parseArgs({ args, options })
  const chosenCases = chosen(values.cases, caseNames)
  const chosenSystems = chosen(values.systems, systemNames)
  const sizes = { n: Number(values.n ?? 100_000), seconds: Number(values.seconds ?? 60) }
  await install()
  const results: RunResult[] = []
  const serverNames = [...new Set(chosenSystems.map((name) => systems[name].server))]
  await withServers(serverNames, async (servers) => {
    for (let round = 1; round <= Number(values.runs ?? 5); round++)
      for (const name of chosenCases)
        for (const system of rotated(chosenSystems, round)) {
          const server = servers.get(systems[system].server)
          if (server === undefined || !canRun(name, system)) continue
          const place = await server.place(system === 'Duelog')
          try {
            const result = { case: name, system, run: round, ...(await runCase(name, system, place, sizes)) }
            results.push(result)
            console.log(JSON.stringify(result))
          } finally {
            await place.remove()
          }
        }
  })
  console.log(`\n${tableOf(results)}`)
  if (values.publish) await publish({ date: new Date().toISOString().slice(0, 10), cores: cpus().length, ...sizes, results })
  if (results.some(({ problems }) => problems.length > 0)) process.exitCode = 1
}

function chosen<Name extends CaseName | SystemName>(text: string | undefined, all: readonly Name[]): Name[] {
  if (text === undefined) return [...all]
  return text.split(',').map((name) => {
    const found = all.find((other) => other === name)
    if (found === undefined) throw new Error(`There is no "${name}". There are: ${all.join(', ')}.`)
    return found
  })
}

/** Every round begins with another system. */
const rotated = <Item>(items: readonly Item[], by: number): Item[] =>
  items.map((_, index) => items[(index + by) % items.length] as Item)

/** Not `npm ci`: it refuses a lock file that lacks a platform of an optional package, as registries do that do not have them all. */
async function install(): Promise<void> {
  const folder = import.meta.dirname
  if (existsSync(join(folder, 'node_modules'))) return
  console.error('Installing the packages of the other systems …')
  await promisify(execFile)('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder })
}
