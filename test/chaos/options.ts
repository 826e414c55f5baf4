/** The command line options of a drill. */
import { parseArgs } from 'node:util'

export interface DrillOptions {
  seed: number
  /** Names of the faults, in their order; empty: all. */
  only: string[]
  jobs: number
  /** Occurrences per second. */
  rate: number
  /** An occurrence is late if it comes more than this after its time. After a fault the drill waits until none is late. */
  lateMs: number
  network: 'auto' | 'namespaces' | 'proxies'
  /** Whether `duelog audit` judges after each fault, or once after the last: it reads all jobs each time. */
  audit: 'each' | 'end'
  /** Further settings of the brokers, by name. */
  broker: Record<string, string>
  /** Commit or tag of the version that the fault `upgrade` goes back to. */
  former: string | undefined
  /** Whether each scheduler is restarted once before the first fault, as in a system that has run for a while. */
  warm: boolean
  list: boolean
  /** Keeps the folder of the drill: logs, stores, data of the brokers. */
  keep: boolean
  /** The table of docs/RELIABILITY.md to write again: that of the faults with a time goal, or that of all faults. */
  write: 'goals' | 'faults' | undefined
  /** The file for the results in JSON. */
  json: string | undefined
}

export const usage = `npm run chaos -- [options]

  --only a,b       runs these faults (default: all, see --list)
  --seed n         chooses what each fault hits (default: 1)
  --jobs n         number of jobs (default: 100000)
  --rate n         occurrences per second (default: 500)
  --late-ms n      an occurrence is late if it comes more than this after its time (default: 1000; use more on a slow machine)
  --network kind   namespaces, proxies or auto (default: auto)
  --audit when     each: after each fault; end: once, after the last fault, for many jobs (default: each)
  --broker a=b     a further setting of the brokers, such as broker.session.timeout.ms=4000; may be given several times
  --former ref     commit or tag of the version that the fault upgrade goes back to
  --warm           restarts each scheduler once before the first fault: a first takeover waits until code is compiled
  --json file      writes the results as JSON
  --write table    goals or faults: writes that table of docs/RELIABILITY.md again
  --keep           keeps the folder of the drill: output of each process, stores, data of the brokers
  --list           prints all faults, each with its goal if it has one
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
      broker: { type: 'string', multiple: true, default: [] },
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
    broker: Object.fromEntries(values.broker.map(brokerSetting)),
    former: values.former,
    json: values.json,
    warm: values.warm,
    list: values.list,
    keep: values.keep,
    write,
  }
}

function brokerSetting(text: string): [string, string] {
  const [, name = '', value = ''] = /^([a-z.]+)=(.+)$/.exec(text) ?? []
  if (name === '') throw new Error(`--broker ${text} is not name=value`)
  return [name, value]
}
