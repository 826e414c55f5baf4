/** Sentences about the number of workers of a pool, and of the executor processes of a parent: how many, and why. */
import { duration } from '../../../streams/text/index.ts'
import type { ExecutorProcesses, Pool } from '../../answers/index.ts'
import { visible } from './visible.ts'
import { count, counted, runsWait, statusWord } from './words.ts'

/** How many workers the load of a pool needs, and why. Undefined: it could not be measured. */
export function wantedWords({ wanted, state }: Pick<Pool, 'wanted' | 'state'>): string | undefined {
  if (wanted === null) return undefined
  const { workers, reason, backlog, forecast, lateMs } = wanted
  const why: Record<typeof reason, string> = {
    // Runs that wait until somebody resumes it need no workers.
    idle: state === 'ACTIVE' ? 'nothing runs or waits' : `it is ${statusWord(state)}`,
    running: 'for the handlers that run',
    backlog: runsWait(backlog),
    forecast: `${counted(forecast, 'run')} ${forecast === 1 ? 'comes' : 'come'} due within 30 s`,
    arrivals: 'for the runs that come now',
    lateness: `runs have waited for ${duration(wholeSeconds(lateMs))}`,
    'owners-unknown': 'as many as now, because an owner does not answer',
  }
  return `${count(workers)} wanted: ${why[reason]}`
}

const wholeSeconds = (ms: number): number => Math.max(1_000, Math.round(ms / 1_000) * 1_000)

/** What in a pool needed the processes. A later version may have other reasons. */
const needs: Record<string, string> = {
  running: 'Running handlers',
  backlog: 'Waiting runs',
  forecast: 'Runs due within 30 s',
  arrivals: 'New runs',
  lateness: 'Late runs',
  'owners-unknown': 'Unknown runs',
}

export const limitsWords = ({ min, max }: ExecutorProcesses): string => (min === max ? 'fixed' : `${count(min)} to ${count(max)}`)

/** Why a parent keeps so many executor processes, and what happens next. `pools`: absent until they are known. */
export function processesWords(of: ExecutorProcesses, pools: readonly Pool[] | undefined): string {
  const { min, max, wanted, reason, reasonPool, coolDownMs } = of
  if (min === max) return 'Their number is fixed.'
  const kept = `for ${duration(coolDownMs)}`
  const where = reasonPool === null ? '' : ` of pool ${visible(reasonPool)}`
  const why =
    reason === 'start'
      ? 'As many as at the start.'
      : reason === 'cool-down'
        ? `Fewer were enough ${kept}.`
        : `${needs[reason] ?? visible(reason)}${where} needed ${wanted === max ? `${count(max)}, the most allowed` : count(wanted)}.`
  const now = (pools ?? []).filter(({ pool }) => of.pools.includes(pool))
  const isFewer = now.length > 0 && now.every((pool) => pool.wanted !== null && pool.wanted.workers < pool.workers)
  return wanted > min && isFewer ? `${why} Fewer are enough now; one ends when that holds ${kept}.` : why
}
