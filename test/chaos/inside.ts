/** The process of a drill. run.ts starts it in namespaces of its own, and it ends when its pipe to run.ts closes. */

import type { Tools } from './cluster/tools.ts'
import { drill } from './drill.ts'
import { faults } from './faults/all.ts'
import { openNamespaces } from './network/namespaces.ts'
import { openProxies } from './network/proxies.ts'
import type { DrillOptions } from './options.ts'
import type { Result } from './report/result.ts'
import { tableOf } from './report/table.ts'

export interface InsidePlan {
  options: DrillOptions
  network: 'namespaces' | 'proxies'
  tools: Tools
  python: string
  folder: string
  /** Root folder of the code of the former version. */
  former: string | undefined
}

export interface InsideMessage {
  kind: 'results'
  results: Result[]
}

const plan = JSON.parse(process.argv[2] ?? '') as InsidePlan
const { options, tools, python, folder, former } = plan
const say = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`)
const ending = new AbortController()
process.stdin.on('end', () => ending.abort(new Error('The drill was asked to end.'))).resume()
// A signal to the whole process group must not end this process before the programs it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => ending.abort(new Error(`The drill was ended by ${signal}.`)))

const chosen = options.only.length === 0 ? faults : options.only.flatMap((name) => faults.filter((fault) => fault.name === name))
const network = plan.network === 'namespaces' ? await openNamespaces() : await openProxies()
try {
  const results = await drill({
    ...{ options, network, tools, python, folder, former, say },
    faults: chosen,
    signal: ending.signal,
    onResult: (result) =>
      say(`${result.fault}: ${result.outcome}\n${tableOf([result]).split('\n').at(-1)}\n${result.why.join('\n')}`),
  })
  const message: InsideMessage = { kind: 'results', results }
  await new Promise<void>((resolve, reject) =>
    process.send?.(message, undefined, {}, (error) => (error ? reject(error) : resolve())),
  )
  process.exitCode = 0
} catch (error) {
  say(`The drill ended: ${(error as Error).stack}`)
  process.exitCode = 1
} finally {
  await network.close()
  process.disconnect?.()
  process.stdin.destroy()
}
