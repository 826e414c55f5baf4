/**
 * Every wait has a timer that ends it. In any state of any history, all records in flight are lost, and all records that are sent
 * later: events, commands, definitions, and records in delay topics. Only the timers that follow from the state remain, as for an
 * owner that starts with an empty store. Even so, each run ends, and a repeating job continues.
 */
import { describe, expect, it } from 'vitest'
import type { JobDefinition } from '../../../schemas/generated.ts'
import { Chance } from '../../../src/testing/simulation/chance.ts'
import { retryDelayMaxMs } from '../../../streams/runs/retries.ts'
import { waitersOf } from '../../../streams/state/slots.ts'
import { attemptTimeoutGraceMs, retryGuardMs, timersOf, waitsForHandler, waitsForPool } from '../../../streams/state/timers.ts'
import { randomCommand, randomReport } from '../random-acts.ts'
import { randomDefinition } from '../random-definition.ts'
import { JobHistory } from './history.ts'

const begin = 1_800_000_000_000
const histories = 6_000
/**
 * Longer than the longest backoff, and than the start deadlines of random definitions. Five attempts, each with a backoff and
 * perhaps a wait for a start, end within twenty of these.
 */
const leapMs = retryDelayMaxMs + 2 * 86_400_000
const leaps = 20

describe('from any state with every record lost', () => {
  it('each run ends, and no recurring job stops', { timeout: 120_000 }, () => {
    const seen = new Set<string>()
    for (let seed = 1; seed <= histories; seed++) {
      const lived = live(new Chance(seed))
      for (const status of statuses(lived.job)) seen.add(status)
      const wrong = abandoned(lived)
      if (wrong !== undefined) throw new Error(`seed ${seed}: ${wrong}`)
    }
    // The histories must reach every state that waits for something.
    const all = [
      'DISPATCHED',
      'pinned',
      'RUNNING',
      'RETRY_WAIT',
      'RETRY_WAIT parked',
      'WAITING SLOT',
      'WAITING RATE',
      'routed',
      'without handler',
    ]
    expect(
      [...all, 'waiting', 'queued', 'backfill', 'END', 'recheck', 'COMPLETED'].filter((status) => !seen.has(status)),
    ).toEqual([])
  })

  it('an attempt that its delay topic lost is dispatched a minute after its backoff', () => {
    const job = new JobHistory().define({ retry: { backoff: { list: [1_000] } } }).until(1_000)
    const { dueAt } = job.fail().state.active[0] ?? { dueAt: 0 }
    job.until(dueAt + retryGuardMs - 1)
    expect(job.dispatched).toHaveLength(1)
    job.until(dueAt + retryGuardMs)
    expect(job.dispatched.map(({ attempt }) => attempt)).toEqual([1, 2])
    // The retry forwarder may only have been slow.
    job.report('RETRY_DUE')
    expect(job.notes).toEqual(['stale'])
    expect(job.until(dueAt + 2 * retryGuardMs).dispatched).toHaveLength(2)
  })
})

describe('an attempt that its topic will lose', () => {
  const day = 86_400_000
  const patient = { startDeadlineMs: 30 * day }
  it.each([
    ['seven days', 7 * day, 7 * day - 600_000],
    ['a minute, which leaves an hour', 60_000, 3_600_000],
    ['for ever', Number.POSITIVE_INFINITY, 30 * day],
  ])('expires before that, where the topic keeps it %s', (_, keptMs, afterMs) => {
    const job = new JobHistory({ keptMs }).define(patient).until(1_000)
    expect(job.dispatched).toMatchObject([{ startDeadlineAt: 1_000 + afterMs }])
    expect(job.until(1_000 + afterMs + attemptTimeoutGraceMs).state.lastRun).toMatchObject({ status: 'EXPIRED' })
  })
  it('does so in each attempt, with limits too; a run that waits for a slot is in no topic', () => {
    const job = new JobHistory({ keptMs: 7 * day }).define({ ...patient, concurrencyKey: 'k' })
    job.others = { held: 1, waiting: 0 }
    job.until(1_000)
    expect(job.state.active).toMatchObject([{ status: 'WAITING', startDeadlineAt: 1_000 + 30 * day }])
    job.others = { held: 0, waiting: 0 }
    job.until(10 * day).admit()
    expect(job.dispatched).toMatchObject([{ startDeadlineAt: 17 * day - 600_000 }])
    job.until(11 * day).report('RELEASED')
    expect(job.dispatched.at(-1)).toMatchObject({ attempt: 2, startDeadlineAt: 18 * day - 600_000 })
  })
  it('does not before it is due, because an empty retention may be temporary', () => {
    const job = new JobHistory({ leadMs: 100, keptMs: 1_000 }).define({ schedule: { at: day } }).fireAhead()
    expect(job.dispatched).toMatchObject([{ startDeadlineAt: day + 3_600_000 }])
  })
  it('has all of its time again once the topic keeps more', () => {
    const options = { keptMs: 1_000 }
    const job = new JobHistory(options).define({ ...patient, retry: { backoff: { list: [1_000] } } }).until(1_000)
    options.keptMs = Number.POSITIVE_INFINITY
    job
      .fail()
      .report('RETRY_DUE')
      .until(job.state.active[0]?.dueAt ?? 0)
    expect(job.state.active).toMatchObject([{ attempt: 2, status: 'DISPATCHED', startDeadlineAt: 2_000 + 30 * day }])
  })
  it('has no such end when it is pinned: it is redelivered', () => {
    const job = new JobHistory({ keptMs: 7 * day }).define({ ...patient, pinTo: 'here' }).until(1_000)
    expect(job.state.active).toMatchObject([{ startDeadlineAt: 1_000 + 30 * day }])
  })
})

describe('an interval from the END of its runs', () => {
  it('continues with other times, although the occurrence that waited under the old ones is dropped', () => {
    const every = (everyMs: number) => ({ schedule: { everyMs, from: 'END' as const }, overlap: 'QUEUE_ONE' as const })
    const job = new JobHistory().define(every(1_000)).command('TRIGGER').until(1_000)
    expect(job.state.queuedFor).toBe(1_000)
    job.define(every(2_000)).report('SUCCEEDED', { runNo: 1 })
    expect(job.state).toMatchObject({ status: 'ACTIVE', nextFireAt: 3_000 })
  })
})

interface Lived {
  job: JobHistory
  cancelled: boolean
  /** From now on the topics that the definition names exist. */
  mend: () => void
}

function live(chance: Chance): Lived {
  const leadMs = chance.pick([0, 100])
  let poolThere = true
  const job = new JobHistory({
    leadMs,
    poolProblem: () => (poolThere ? undefined : 'no pool'),
    ...(chance.happens(0.2) && { worker: { type: 'STARTED' as const } }),
  })
  job.now = begin
  let cancelled = false
  const define = (): void => {
    poolThere = chance.happens(0.95)
    const { definition: before } = job.job
    job.definition({ spec: randomDefinition(chance, job.now) })
    // A dropped definition revives no job.
    if (job.job.definition !== before) cancelled = false
  }
  define()
  for (let acts = chance.int(2, 12); acts > 0; acts--) {
    const admit = waitersOf('job', job.job.state).length > 0 ? 3 : 0
    const kind = chance.weighted({
      time: 4,
      down: 0.5,
      command: 3,
      report: 5,
      admit,
      define: 1,
      garble: 0.1,
      remove: 0.05,
      workers: 1,
      pause: 0.7,
    })
    if (kind === 'define') define()
    else if (kind === 'garble') job.garble()
    else if (kind === 'remove') job.remove()
    else if (kind === 'time') job.until(job.now + chance.int(0, 3_000))
    else if (kind === 'down') job.downUntil(job.now + chance.int(0, 20_000))
    else if (kind === 'report') randomReport(job, chance)
    else if (kind === 'admit') job.admit()
    else if (kind === 'workers') changeWorkers(job, chance)
    else if (kind === 'pause') changePause(job, chance)
    else if (randomCommand(job, chance) === 'CANCEL') cancelled = true
    // Other jobs may hold all slots forever.
    job.others = chance.happens(0.1) ? { held: 9, waiting: 0 } : { held: 0, waiting: 0 }
  }
  const mend = (): void => {
    poolThere = true
    job.pause = undefined
  }
  return { job, cancelled, mend }
}

/** Workers join and leave, with all handlers, some, or none. */
function changeWorkers(job: JobHistory, chance: Chance): void {
  const before = Object.keys(job.workers ?? {})
  const names = ['a', 'b', 'c'].filter(() => chance.happens(0.5))
  job.workers = Object.fromEntries(names.map((name) => [name, chance.pick([['noop', 'http'], ['http'], []])]))
  for (const name of before) if (!names.includes(name)) job.gone.set(name, job.now)
  for (const name of names) job.gone.delete(name)
  for (const { runNo } of job.job.state?.active ?? []) job.followWorkers(runNo)
}

/** The pool is paused, drained or resumed, and the owner may not hear of it. */
function changePause(job: JobHistory, chance: Chance): void {
  job.pause = chance.happens(0.5) ? undefined : { at: job.now, isDrained: chance.happens(0.3) }
  if (chance.happens(0.5)) for (const { runNo } of job.job.state?.active ?? []) job.followWorkers(runNo)
}

/** The part of the job that has stopped, or undefined. */
function abandoned({ job, cancelled, mend }: Lived): string | undefined {
  const { state: before, definition } = job.job
  mend()
  job.restore()
  const done = (): number => (job.job.state === undefined ? 0 : job.state.runNo + job.state.skipped)
  const doneBefore = done()
  for (let leap = 0; leap < leaps; leap++) job.downUntil(job.now + leapMs)
  const { state } = job.job
  const left = state?.active.find((run) => before?.active.some(({ runNo }) => runNo === run.runNo))
  if (left !== undefined) return `run ${left.runNo} is ${left.status} for ever, with timers ${JSON.stringify(timersOf(job.job))}`
  if (before !== undefined && before.deleteAt !== null && state !== undefined)
    return 'a job whose deletion was set is still there'
  const spec = definition?.spec
  if (spec === undefined || cancelled || before === undefined || !recursForEver(spec)) return undefined
  if (before.status === 'PAUSED' || (before.status === 'INVALID' && before.recheckAt === null)) return undefined
  if (state === undefined) return 'a job that recurs was deleted'
  if (state.status === 'PAUSED' && state.pausedByCommand) return undefined
  if (state.status === 'PAUSED' && spec.paused) return undefined
  if (state.status !== 'ACTIVE') return `a job that recurs is ${state.status}`
  return done() > doneBefore ? undefined : `a job that recurs stands still at ${JSON.stringify({ ...state, decisions: [] })}`
}

const recursForEver = ({ schedule, endAt, expireAt, maxRuns }: JobDefinition): boolean =>
  (schedule.everyMs !== null || schedule.cron !== null) && endAt === null && expireAt === null && maxRuns === null

function statuses({ job: { state, definition } }: JobHistory): string[] {
  if (state === undefined) return []
  const found: string[] = [state.status]
  if (state.waiting) found.push('waiting')
  if (state.queuedFor !== null) found.push('queued')
  if (state.backfill !== null) found.push('backfill')
  if (state.recheckAt !== null) found.push('recheck')
  if (definition?.spec?.schedule.from === 'END' && state.nextFireAt === null) found.push('END')
  for (const run of state.active) {
    const { status, parked, waitsFor, tellAt, routedTo } = run
    found.push(
      routedTo === null ? '' : 'routed',
      waitsForHandler(run) ? 'without handler' : '',
      waitsForPool(run) ? 'paused pool' : '',
    )
    found.push(status, tellAt === null ? '' : 'pinned', parked ? `${status} parked` : '', `${status} ${waitsFor}`)
  }
  return found
}
