/** What a drill is told on its command line. */
import { parseArgs } from 'node:util'

export interface DrillOptions {
  seed: number
  /** Names of the faults, in their order; empty: all. */
  only: string[]
  jobs: number
  /** Occurrences a second. */
  rate: number
  /** What comes later than this after its time is late; who recovers is waited for until nothing is. */
  lateMs: number
  network: 'auto' | 'namespaces' | 'proxies'
  /** Whether `duelog audit` judges each fault, or all of them together behind the last: it reads all jobs each time. */
  audit: 'each' | 'end'
  /** Commit or tag of the version that the fault `upgrade` goes back to. */
  former: string | undefined
  /** Whether each scheduler is restarted once before the first fault, as in a system that has run for a while. */
  warm: boolean
  list: boolean
  /** Keeps the folder of the drill: logs, stores, brokers' data. */
  keep: boolean
  /** Which table of docs/RELIABILITY.md is written anew: that of the rows with a goal of time, or that of all faults. */
  write: 'goals' | 'faults' | undefined
  /** File for the results in JSON. */
  json: string | undefined
}

export const usage = `npm run chaos -- [options]

  --only a,b       these faults (default: all, see --list)
  --seed n         chooses whom a fault hits (default: 1)
  --jobs n         jobs that are defined (default: 100000)
  --rate n         occurrences a second (default: 500)
  --late-ms n      what comes so much after its time is late (default: 1000; more on a machine that does not keep up)
  --network kind   namespaces, proxies or auto (default: auto)
  --audit when     each: behind each fault; end: once, behind the last, where there are many jobs (default: each)
  --former ref     commit or tag of the version that the fault upgrade goes back to
  --warm           before the first fault each scheduler is restarted once: a first takeover waits for code to be compiled
  --json file      results in JSON
  --write table    goals or faults: that table of docs/RELIABILITY.md is written anew
  --keep           the folder of the drill is kept: output of each process, stores, brokers' data
  --list           what faults there are, each with its goal where it has one
  --help           this text`

/** Throws an Error whose message says what is wrong. */
export function readOptions(args: readonly string[]): DrillOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: '' },
      seed: { type: 'string', default: '1' },
      jobs: { type: 'string', default: '100000' },
      rate: { type: 'string', default: '500' },
      'late-ms': { type: 'string', default: '1000' },
      network: { type: 'string', default: 'auto' },
      audit: { type: 'string', default: 'each' },
      former: { type: 'string' },
      json: { type: 'string' },
      warm: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      write: { type: 'string' },
    },
  })
  const whole = (name: 'seed' | 'jobs' | 'rate' | 'late-ms', least: number): number => {
    const value = Number(values[name])
    if (!Number.isSafeInteger(value) || value < least) throw new Error(`--${name} must be a whole number from ${least} on`)
    return value
  }
  const network = values.network
  if (network !== 'auto' && network !== 'namespaces' && network !== 'proxies')
    throw new Error('--network is namespaces, proxies or auto')
  const { audit } = values
  if (audit !== 'each' && audit !== 'end') throw new Error('--audit is each or end')
  const { write } = values
  if (write !== undefined && write !== 'goals' && write !== 'faults') throw new Error('--write is goals or faults')
  return {
    only: values.only.split(',').filter((name) => name !== ''),
    seed: whole('seed', 0),
    jobs: whole('jobs', 120),
    rate: whole('rate', 1),
    lateMs: whole('late-ms', 100),
    network,
    audit,
    former: values.former,
    json: values.json,
    warm: values.warm,
    list: values.list,
    keep: values.keep,
    write,
  }
}
