/** One history from its beginning to its judgement. */
import { pausedRunsOf } from '../oracle/dispatches.ts'
import type { Facts } from '../oracle/facts.ts'
import { judgementOf } from '../oracle/judgement.ts'
import { ledgerOf } from '../oracle/ledger.ts'
import { type Life, livesOf } from '../oracle/lives.ts'
import { partitionOfJob } from '../oracle/partitions.ts'
import { pausedRestProblems } from '../oracle/pauses.ts'
import { leadMs, names } from '../world.ts'
import type { Fullness } from './fullness.ts'
import { durableOf, subjectOf, unsettled } from './settled.ts'
import { Simulation } from './simulation.ts'
import { isOn } from './switches.ts'

function factsOf({ trace, time, aheadMs, behindMs, cluster, doers, calms }: Simulation): Facts {
  const suffered = (what: string): boolean => trace.some((line) => line.includes(`— ${what} `))
  return {
    nowMs: time.nowMs,
    exact: !suffered('long-time') && !suffered('clockSteps'),
    cancelled: new Set(trace.flatMap((line) => /user: cancel (.*)/.exec(line)?.[1] ?? [])),
    // Beyond the error that a guard allows, it decides nothing.
    aheadMs: Math.min(aheadMs, cluster.clockStepMsMax ?? aheadMs),
    behindMs,
    doersAheadMs: doers.aheadMs,
    leadMsMax: cluster.leadMsMax ?? leadMs,
    begun: doers.begun,
    steady: !suffered('topic'),
    whole: isWhole({ trace }),
    mixedWorkers: cluster.workers !== undefined || cluster.realWorkers !== undefined,
    pauses: cluster.pauses,
    calms,
    waiting: cluster.fullness.waiting,
    loads: cluster.fullness.loads,
    necessity: isOn('necessity'),
    revivalsStay: isOn('revivalsStay'),
    deletionsTellWorkers: isOn('deletionsTellWorkers'),
  }
}

/** Whether no log lost records. A lost retry is made a minute later. */
const isWhole = ({ trace }: Pick<Simulation, 'trace'>): boolean => !trace.some((line) => /— (truncation|recreation) /.test(line))

/** The number of standbys that were compared with their owners. */
export const followed = { count: 0 }

/** Histories in which runs were dispatched ahead of their time. */
export const ahead = { histories: 0 }

/** Rests in which the pool stayed paused, and decisions of owners and histories with runs that waited for their pool. */
export const paused = { rests: 0, decisions: 0, histories: 0 }

/** Jobs that operations have changed, as the owners say, and histories with operations. */
export const operated = { jobs: 0, histories: 0 }

/** Histories in which an input buffer was full, a commit cycle wrote its maximum, or it had its maximum of jobs in memory. */
export const filled = { inputBuffers: 0, turns: 0, memories: 0 }

const most = (all: readonly { bytes: number }[]): number => Math.max(0, ...all.map(({ bytes }) => bytes))

function countFilled({ waiting, loads, written }: Fullness): void {
  if (most(waiting) >= 8_000_000) filled.inputBuffers++
  if (written >= 3_000_000) filled.turns++
  if (most(loads) >= 7_000_000) filled.memories++
}

function countOperated({ operations }: Simulation): void {
  if (operations === undefined) return
  operated.histories++
  operated.jobs += operations.changed
}

function countPaused({ cluster: { pauses }, log }: Simulation): void {
  paused.decisions += pauses?.decided.filter(({ pause }) => pause !== null).length ?? 0
  if (pausedRunsOf(log).size > 0) paused.histories++
}

/** Describes what is wrong with the history of a seed; empty when nothing is wrong. */
export async function history(seed: number): Promise<string[]> {
  const world = new Simulation(seed)
  const problems: string[] = []
  try {
    await world.live(world.chance.pick([300, 900, 2_500]))
    if (world.cluster.pauses?.isPaused) {
      await world.rest(45_000, 'paused')
      const known = livesOf(world.log)
      problems.push(...pausedRestProblems(world.log, known, ledgerOf(world.log, known), factsOf(world)))
      paused.rests++
    }
    // The failure of one job does not affect others: while its topic is missing, all other jobs fire in time.
    if (!world.cluster.ordersThere) await world.rest(40_000, 'without orders')
    await world.rest(isWhole(world) ? 45_000 : 75_000)
    const lives = (partition: number): Map<string, Life[]> =>
      new Map([...livesOf(world.log)].filter(([id]) => partitionOfJob(id, world.log.partitions) === partition))
    problems.push(...world.problems, ...judgementOf(world.log, factsOf(world)))
    countFilled(world.cluster.fullness)
    countPaused(world)
    countOperated(world)
    if (world.log.allOf('model.executions.default').some(({ topic, log }) => topic.endsWith('.ahead') && log.next > 0))
      ahead.histories++
    const live = world.ownedStores()
    for (const [partition, store] of live) problems.push(...unsettled(store, lives(partition)))
    for (const { partition, store } of world.followedStores()) {
      const owner = live.get(partition)
      const [there, here] = [new Set(owner && durableOf(owner, new Set())), new Set(durableOf(store, new Set()))]
      for (const line of there) if (!here.has(line)) problems.push(`The standby of ${partition} lacks ${line}`)
      for (const line of here) if (!there.has(line)) problems.push(`The standby of ${partition} has in vain ${line}`)
      problems.push(...unsettled(store, lives(partition)))
      followed.count++
    }
    const changelogOf = (partition: number) => world.log.at(names.state, partition)
    const ends = new Map([...live.keys()].map((partition) => [partition, changelogOf(partition).next]))
    const fresh = await world.startAnew()
    for (const [partition, store] of live) {
      const rebuilt = fresh.disk.get(partition)
      // Time has passed, and some jobs have changed.
      const later = changelogOf(partition).archive.filter(({ offset }) => offset >= (ends.get(partition) ?? 0))
      const changed = new Set(later.flatMap(({ record }) => (record?.key ? [subjectOf(record.key)] : [])))
      const [was, is] = [new Set(durableOf(store, changed)), new Set(rebuilt === undefined ? [] : durableOf(rebuilt, changed))]
      for (const line of was) if (!is.has(line)) problems.push(`A rebuild of ${partition} has lost ${line}`)
      for (const line of is) if (!was.has(line)) problems.push(`A rebuild of ${partition} has got ${line}`)
      if (rebuilt !== undefined) problems.push(...unsettled(rebuilt, lives(partition)))
    }
    problems.push(...world.problems, ...judgementOf(world.log, factsOf(world)))
  } catch (error) {
    problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  if (problems.length > 0 && process.env.DUELOG_MODEL_TRACE) console.log(world.trace.join('\n'))
  return [...new Set(problems)].map((problem) => `seed ${seed}: ${problem}`)
}
