/** `duelog generate`: sends a load of jobs to a running Duelog and measures it. The exit code says whether each job ran exactly once. */
import { InvalidArgumentError, Option } from 'commander'
import { fieldOf, jobDefinitionSchema } from '../../../../schemas/index.ts'
import { priorityAllowed, priorityIn } from '../../../../streams/topics/index.ts'
import { watchSignals } from '../../../ground/process/index.ts'
import type { JobPriority, Kind, LoadOptions, Mix } from '../../generate/index.ts'
import type { CommandPlan } from '../remote/index.ts'
import { integer, number } from '../terminal/index.ts'
import { clusterIn } from './cluster.ts'

const payloadBytesMax = fieldOf(jobDefinitionSchema, 'payload').maxBytes ?? 0

interface Flags extends Omit<LoadOptions, 'durationS' | 'delayMs' | 'mix'> {
  duration: number
  delay: number
  wait: number
  kind: Kind
  priority: Mix
}

/** Largest share in a mix. */
const shareMax = 100

export const generateCommand: CommandPlan = {
  name: 'generate',
  description:
    'Send jobs at a fixed rate to a running Duelog and measure the results. Brokers, registry and prefix come from the environment, as for `up`; the default is the embedded Duelog of this machine.',
  examples: ['generate --rate 200 --duration 30', 'generate --kind every --runs 10 --every-ms 500 --priority HIGH:1,LOW:9'],
  options: [
    number('--rate <n>', 'jobs sent per second', 100, 0.1, 100_000),
    number('--duration <s>', 'how long jobs are sent, in seconds', 10, 1, 86_400),
    new Option('--kind <kind>', 'schedule of the jobs').choices(['at', 'every', 'cron']).default('at'),
    number('--delay <ms>', 'delay from sending a job to its first due time', 1_000, 0, 86_400_000),
    integer('--runs <n>', 'runs of each job of kind every or cron', 3, 1, 1_000),
    integer('--every-ms <ms>', 'interval of jobs of kind every; cron jobs are due each second', 1_000, 100, 86_400_000),
    new Option('--handler <name>', 'handler of the jobs').default('noop'),
    new Option('--pool <name>', 'pool of the jobs').default('default'),
    integer('--payload-bytes <n>', 'bytes of payload in each job', 0, 0, payloadBytesMax),
    new Option('--priority <mix>', `${priorityAllowed}, or shares such as HIGH:1,NORMAL:8,LOW:1 or 9:1,4:3`)
      .default(mixOf('NORMAL'), 'NORMAL')
      .argParser(mixOf),
    number('--wait <s>', 'seconds after the last due time until missing runs count as lost', 30, 0, 86_400),
  ],
  run: async ({ terminal, exit }, flags: Flags) => {
    // Loaded on demand, so that the other commands start sooner.
    const { generate, isWhole, summaryOf } = await import('../../generate/index.ts')
    const signals = watchSignals()
    try {
      const { duration: durationS, delay: delayMs, wait, priority: mix, ...rest } = flags
      const outcome = await generate({
        cluster: await clusterIn(terminal.env, 'duelog-generate'),
        load: { ...rest, durationS, delayMs, mix },
        graceMs: wait * 1_000,
        output: terminal.stdout,
        signal: signals.stop,
      })
      terminal.stdout.write(`\n${summaryOf(outcome)}`)
      exit(isWhole(outcome) ? (signals.exitCode ?? 0) : 1)
    } finally {
      signals.dispose()
    }
  },
}

function mixOf(text: string): Mix {
  const mix = new Map<JobPriority, number>()
  for (const part of text.split(',')) {
    const [name = '', share = '1', ...more] = part.trim().split(':')
    const priority = priorityIn(name) as JobPriority | undefined
    const count = Number(share)
    const isShare = more.length === 0 && Number.isInteger(count) && count >= 1 && count <= shareMax
    if (priority === undefined || !isShare || mix.has(priority))
      throw new InvalidArgumentError(`Allowed: ${priorityAllowed}, each at most once, with shares from 1 to ${shareMax}.`)
    mix.set(priority, count)
  }
  return mix
}
