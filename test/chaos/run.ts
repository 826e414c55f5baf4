/**
 * `npm run chaos`: runs Duelog on three real brokers and causes faults.
 *
 *   npm run chaos -- --list
 *   npm run chaos -- --seed 7 --only kill-owner,silent-coordinator --jobs 100000 --rate 500
 *
 * A drill starts three brokers (each is also a controller), a registry, three schedulers, an API with the retry forwarder, and
 * two workers. Each is a process at a place of its own (places.ts). The drill defines jobs that are due evenly (load/). Then it
 * runs the faults (faults/). After each fault it waits until every partition fires on time. Then the checker (checker/, Python
 * and librdkafka; it shares no code and no client with the product) judges everything from the beginning: lost, duplicate, early.
 * `duelog audit` judges the time of the fault. The lateness of occurrences is measured, and is no part of the outcome.
 *
 * The places are network namespaces if this process may make them (root on Linux, with `ip`), otherwise proxies (network/). With
 * namespaces the drill has its own network, mounts and processes, and nothing remains, however it ends.
 *
 * Exit code: 0 only if every fault ran and passed, or was not run for a stated reason; 1 otherwise.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeCheckerEnvironment } from './checker/environment.ts'
import { findTools } from './cluster/tools.ts'
import { faults } from './faults/all.ts'
import type { InsideMessage, InsidePlan } from './inside.ts'
import { namespacesMissing, unshareArguments } from './network/namespaces.ts'
import { type DrillOptions, readOptions, usage } from './options.ts'
import type { Result } from './report/result.ts'
import { tableOf, writePage } from './report/table.ts'
import { formerVersion } from './system/former.ts'

const inside = fileURLToPath(new URL('inside.ts', import.meta.url))
/** The time between the request to end and the kill. */
const stopMsMax = 60_000
const say = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`)

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(usage)
    return 0
  }
  const options = readOptions(args)
  if (options.list) {
    for (const { name, what, goal } of faults)
      console.log(`${name.padEnd(26)}${what}${goal === undefined ? '' : ` (goal: ${goal.words})`}`)
    return 0
  }
  const unknown = options.only.filter((name) => !faults.some((fault) => fault.name === name))
  if (unknown.length > 0) throw new Error(`There is no fault ${unknown.join(', ')}; --list names all.`)
  const network = await networkKind(options)
  const folder = await mkdtemp(join(tmpdir(), 'duelog-chaos-'))
  try {
    say('Preparing Kafka, the registry and the checker …')
    const tools = await findTools(folder, say)
    const python = await makeCheckerEnvironment(folder)
    const former = options.former === undefined ? undefined : await formerVersion(options.former, folder)
    const results = await drillIn(network, { options, network, tools, python, folder, former })
    if (results === undefined) return 1
    await report(options, results)
    return results.every(({ outcome }) => outcome !== 'failed') ? 0 : 1
  } finally {
    if (options.keep) say(`Kept: ${folder}`)
    else await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

async function networkKind({ network }: DrillOptions): Promise<'namespaces' | 'proxies'> {
  if (network === 'proxies') return 'proxies'
  const missing = await namespacesMissing()
  if (missing === undefined) return 'namespaces'
  if (network === 'namespaces') throw new Error(`Network namespaces cannot be made here: ${missing}`)
  say(`Network namespaces cannot be made here (${missing}); proxies take their place.`)
  return 'proxies'
}

/**
 * Runs the drill in a process of its own; undefined if that process ended early. It reads a pipe of this process, so it ends with
 * this process.
 */
async function drillIn(kind: 'namespaces' | 'proxies', plan: InsidePlan): Promise<Result[] | undefined> {
  const node = [process.execPath, inside, JSON.stringify(plan)]
  const [program = '', ...args] = kind === 'namespaces' ? ['unshare', ...unshareArguments, ...node] : node
  const child: ChildProcess = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit', 'ipc'], detached: true })
  child.stdin?.on('error', () => {})
  const stop = (): void => {
    child.stdin?.end()
    // The guards and the kernel end the remaining programs of the drill.
    setTimeout(() => child.kill('SIGKILL'), stopMsMax).unref()
  }
  // The parent process has ended, or wants this process to end.
  const endings = ['SIGINT', 'SIGTERM', 'disconnect'] as const
  for (const ending of endings) process.on(ending, stop)
  let results: Result[] | undefined
  child.on('message', (message) => {
    const told = message as InsideMessage
    if (told.kind === 'results') results = told.results
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  for (const ending of endings) process.off(ending, stop)
  return code === 0 ? results : undefined
}

async function report(options: DrillOptions, results: readonly Result[]): Promise<void> {
  console.log(`\n${tableOf(results)}\n`)
  for (const { fault, outcome, why } of results)
    if (outcome !== 'passed') console.log(`${fault}: ${outcome}\n  ${why.join('\n  ')}`)
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`)
  if (options.write !== undefined) {
    const day = new Date().toISOString().slice(0, 10)
    const { jobs, rate, seed, lateMs, warm } = options
    const setting = [
      `Measured on ${day} on ${availableParallelism()} cores, at a load of ${(loadavg()[1] ?? 0).toFixed(0)} with that of the drill itself:`,
      `${jobs.toLocaleString('en-US')} jobs, ${rate} occurrences a second, seed ${seed}; late is what came more than ${lateMs} ms after its time.${warm ? ' Each scheduler was restarted once before the first fault.' : ''}`,
    ].join(' ')
    await writePage(options.write, results, setting)
  }
}

try {
  process.exitCode = await main(process.argv.slice(2))
  if (process.connected) process.disconnect()
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`)
  process.exitCode = 1
}
