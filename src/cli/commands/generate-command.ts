/** `duelog generate`: sends a load of jobs to a running Duelog and measures it. The exit code says whether each job ran exactly once. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { fieldOf, jobDefinitionSchema } from '../../../schemas/index.ts'
import { priorityAllowed, priorityIn } from '../../../streams/topics/index.ts'
import type { JobPriority, Kind, LoadOptions, Mix } from '../../generate/index.ts'
import { watchSignals } from '../../process/index.ts'
import { withExamples } from '../remote/index.ts'
import { integer, number, type Terminal } from '../terminal/index.ts'
import { clusterIn } from './cluster.ts'

const payloadBytesMax = fieldOf(jobDefinitionSchema, 'payload').maxBytes ?? 0

interface Flags extends Omit<LoadOptions, 'durationS' | 'delayMs' | 'mix'> {
  duration: number
  delay: number
  wait: number
  kind: Kind
  priority: Mix
}

export function generateCommand(terminal: Terminal, exit: (code: number) => void): Command {
  return withExamples(
    new Command('generate').description(
      'Send jobs at a fixed rate to a running Duelog and measure the results. Brokers, registry and prefix come from the environment, as for `up`; the default is the embedded Duelog of this machine.',
    ),
    ['generate --rate 200 --duration 30', 'generate --kind every --runs 10 --every-ms 500 --priority HIGH:1,LOW:9'],
  )
    .addOption(number('--rate <n>', 'jobs sent per second', 100, 0.1, 100_000))
    .addOption(number('--duration <s>', 'how long jobs are sent, in seconds', 10, 1, 86_400))
    .addOption(new Option('--kind <kind>', 'schedule of the jobs').choices(['at', 'every', 'cron']).default('at'))
    .addOption(number('--delay <ms>', 'delay from sending a job to its first due time', 1_000, 0, 86_400_000))
    .addOption(integer('--runs <n>', 'runs of each job of kind every or cron', 3, 1, 1_000))
    .addOption(
      integer('--every-ms <ms>', 'interval of jobs of kind every; cron jobs are due each second', 1_000, 100, 86_400_000),
    )
    .option('--handler <name>', 'handler of the jobs', 'noop')
    .option('--pool <name>', 'pool of the jobs', 'default')
    .addOption(integer('--payload-bytes <n>', 'bytes of payload in each job', 0, 0, payloadBytesMax))
    .addOption(
      new Option('--priority <mix>', `${priorityAllowed}, or shares such as HIGH:1,NORMAL:8,LOW:1 or 9:1,4:3`)
        .default(mixOf('NORMAL'), 'NORMAL')
        .argParser(mixOf),
    )
    .addOption(number('--wait <s>', 'seconds after the last due time until missing runs count as lost', 30, 0, 86_400))
    .action(async (flags: Flags) => {
      // Loaded on demand, so that the other commands start sooner.
      const { generate, isWhole, summaryOf } = await import('../../generate/index.ts')
      const signals = watchSignals()
      try {
        const { duration: durationS, delay: delayMs, wait, priority: mix, ...rest } = flags
        const outcome = await generate({
          cluster: clusterIn(terminal.env, 'duelog-generate'),
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
    })
}

/** Largest share in a mix. */
const shareMax = 100

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
