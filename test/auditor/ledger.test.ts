/** What an audit says does not depend on the order in which topics are read, on restarts, or on how much there is at a time. */
import { describe, expect, it } from 'vitest'
import { verdictOf } from '../../src/tools/auditor/audit.ts'
import type { Finding } from '../../src/tools/auditor/findings/findings.ts'
import { Ledger, type LedgerOptions } from '../../src/tools/auditor/ledger.ts'
import { type MemoryStore, memoryStore } from '../tools/memory-store.ts'
import { mulberry32 } from '../tools/mulberry32.ts'
import {
  activeRun,
  at,
  type ChangelogState,
  finishedRun,
  graceMs,
  History,
  judged,
  ledgerOf,
  minute,
  ninth,
  presentAt,
} from './history.ts'

const now = at(10) + 1

/** Jobs of which each shows another fault, or none. */
function many(): ChangelogState[] {
  const job = (id: string, change: (history: History) => History): ChangelogState[] => {
    const history = new History(id).define()
    let runNo = 0
    for (let each = 1; each <= 9; each++) history.run(++runNo, each)
    return change(history).logged
  }
  return [
    ...job('clean', (history) => history.state(at(9) + 30, {})),
    ...job('twice', (history) => history.dispatch(4, 4)),
    ...job('early', (history) => history.report(3, { startedAt: at(3) - 5 })),
    ...job('doubled', (history) => history.run(10, 9.2, { nominal: 4, next: 10 })),
    ...job('gone', (history) => history.gone(at(9.5))),
    ...job('revived', (history) => history.state(at(9.5), { active: [activeRun(8, 8, 7, { status: 'RUNNING' })] })),
    ...job('vanished', (history) =>
      history.run(10, 9.5, { without: ['end', 'report'], next: 10 }).state(at(9.7), { active: [] }),
    ),
    ...job('unknown', (history) => history.run(10, 9.2, { without: ['dispatch'], next: 10 })),
    ...job('gap', (history) => history.run(11, 9.2, { next: 10 })),
    ...ninth([3, 5]).logged.map((each) => ({ ...each, fact: { ...each.fact, jobId: 'missed' } }) as ChangelogState),
  ]
}

/** One after another of each topic, in any order of the topics: so consumers read. */
function interleaved(logged: readonly ChangelogState[], random: () => number): ChangelogState[] {
  const lanes = [...Map.groupBy(logged, ({ topic }) => topic).values()]
  const result: ChangelogState[] = []
  while (lanes.length > 0) {
    const lane = lanes[Math.floor(random() * lanes.length)] as ChangelogState[]
    result.push(...lane.splice(0, 1 + Math.floor(random() * 5)))
    if (lane.length === 0) lanes.splice(lanes.indexOf(lane), 1)
  }
  return result
}

const namesOf = (findings: readonly Finding[]): string[] =>
  [...new Set(findings.map(({ kind, what }) => `${kind} ${what}`))].sort()
const textsOf = (findings: readonly Finding[]): string[] =>
  findings.map(({ kind, what, detail }) => `${kind} ${what} ${detail}`).sort()

/** By the times of the records, as pacing has them read, judged after each `step`, by ledgers that go on from the same store. */
async function stepwise(logged: readonly ChangelogState[], step: number, reopens: boolean, options: Partial<LedgerOptions> = {}) {
  const store: MemoryStore = memoryStore()
  const findings: Finding[] = []
  const scope = { from: 0, to: Number.POSITIVE_INFINITY, graceMs }
  const open = async () => {
    const ledger = new Ledger({ store, scope, onFinding: (finding) => void findings.push(finding), unsavedMax: 1, ...options })
    await ledger.restore()
    return ledger
  }
  let ledger = await open()
  let cachedMost = 0
  const sorted = logged.toSorted((a, b) => a.fact.at - b.fact.at)
  for (let from = 0; from < sorted.length; from += step) {
    const facts = sorted.slice(from, from + step).map(({ fact }) => fact)
    await ledger.take(facts, now)
    await ledger.settle({ ...presentAt((facts.at(-1)?.at ?? 0) - 1), isPresent: false })
    await ledger.save(undefined)
    cachedMost = Math.max(cachedMost, ledger.cached)
    if (reopens) ledger = await open()
  }
  await ledger.settle({ ...presentAt(now), isFinal: true })
  return { verdict: await verdictOf(ledger, findings, scope), cachedMost, store }
}

describe('an audit', () => {
  it('finds the same in any order of topics', async () => {
    const logged = many()
    const whole = await judged(logged, { now })
    expect(namesOf(whole.findings)).toEqual([
      'duplicate doubled',
      'duplicate twice/4',
      'early early/3',
      'ended-twice revived/8',
      'gap gap/10',
      'lost vanished/10',
      'missed missed',
      'undispatched unknown/10',
    ])
    for (let seed = 1; seed <= 40; seed++) {
      const verdict = await judged(interleaved(logged, mulberry32(seed)), { now })
      expect({ seed, ...verdict, findings: textsOf(verdict.findings) }).toEqual({
        seed,
        ...whole,
        findings: textsOf(whole.findings),
      })
    }
  })

  it('finds the same when it judges while it reads, at any pace, and when it restarts at any point', async () => {
    const logged = many()
    const whole = await judged(logged, { now })
    const expected = namesOf(whole.findings)
    for (const [step, reopens] of [
      [1, false],
      [1, true],
      [3, true],
      [7, true],
      [50, false],
      [50, true],
    ] as const) {
      const { verdict } = await stepwise(logged, step, reopens)
      // What was missed is told as soon as it is known, so one by one.
      expect({ step, reopens, found: namesOf(verdict.findings) }).toEqual({ step, reopens, found: expected })
      expect(verdict).toMatchObject({ runs: whole.runs, succeeded: whole.succeeded, unjudged: 0 })
    }
  })

  it('does not excuse a missed occurrence by skips of an earlier part of the calendar', async () => {
    const history = new History()
      .define()
      .run(1, 1)
      .state(at(2), { skipped: 1, nextFireAt: at(3) })
      .run(2, 3)
      .run(3, 5, { next: 6 })
    const { verdict } = await stepwise(history.logged, 1, false)
    const missed = textsOf(verdict.findings).filter((text) => text.startsWith('missed'))
    expect(missed).toEqual([expect.stringMatching(/^missed job 1 occurrence has no run.*T00:04:00/)])
  })

  it('keeps few accounts in memory, and forgets what is judged', async () => {
    const logged: ChangelogState[] = []
    for (let job = 0; job < 300; job++) {
      const definition = { schedule: { at: at(1 + job / 60) }, target: { handler: 'noop' } }
      const history = new History(`job-${job}`)
        .define(definition)
        .run(1, 1 + job / 60)
        .gone(at(2 + job / 60))
      logged.push(...history.logged)
    }
    const { verdict, cachedMost, store } = await stepwise(logged, 50, false, { cachedMax: () => 40 })
    expect(verdict).toMatchObject({ jobs: 0, runs: 300, succeeded: 300, findings: [] })
    expect(cachedMost).toBeLessThanOrEqual(40)
    // Only the tally is left of those whose grace is over.
    expect(store.dump().length).toBeLessThan(300)
  })

  it('keeps few accounts in memory if it judges only at the end, and fewer if they have many open runs', async () => {
    const sizes: number[] = []
    const store = memoryStore()
    const scope = { from: 0, to: Number.POSITIVE_INFINITY, graceMs }
    const ledger = new Ledger({
      ...{ store, scope, unsavedMax: 10, cachedMax: () => 100, onFinding: () => {} },
      rest: () => void sizes.push(ledger.cached),
    })
    const facts = Array.from({ length: 200 }, (_, job) => {
      const history = new History(`job-${job}`).define({ schedule: { everyMs: 1_000 }, target: { handler: 'noop' } })
      for (let runNo = 1; runNo <= (job < 100 ? 1 : 20); runNo++) history.dispatch(runNo, 1 + runNo / 60)
      return history.logged.map(({ fact }) => fact)
    })
    for (const some of facts) {
      await ledger.take(some, now)
      await ledger.saveMany()
    }
    await ledger.save(undefined)
    expect(ledger.cached).toBe(5)
    sizes.length = 0
    await ledger.settle({ ...presentAt(at(2)), isFinal: true })
    expect(ledger.tally.findings.overdue).toBe(200)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(165)
  })

  it('says that it cannot judge a job with too many open runs, and continues with the others', async () => {
    const history = new History('busy').define({ schedule: { everyMs: 1_000 }, target: { handler: 'noop' } })
    for (let runNo = 1; runNo <= 50; runNo++) history.dispatch(runNo, 1 + runNo / 60)
    const other = new History('other').define().run(1, 1).dispatch(1, 1)
    const verdict = await judged([...history.logged, ...other.logged], { now: at(2), ledger: { runsMax: 20 } })
    expect(verdict.unjudged).toBe(30)
    expect(verdict.findings.filter(({ what }) => what.startsWith('other'))).toMatchObject([{ kind: 'duplicate' }])
    expect((await judged(history.logged, { now: at(2) })).unjudged).toBe(0)
  })

  it.each([
    { what: 'the states of which it judges one after the other', isStepwise: true, runsMax: 5, runs: 4, calendar: 0 },
    { what: 'the states of which it reads then too', isStepwise: false, runsMax: 5, runs: 19, calendar: 1 },
    { what: 'unless there are too many', isStepwise: false, runsMax: 20, runs: 0, calendar: 0 },
  ])('holds nothing against runs that it read while the job had too many open ones, $what', async (given) => {
    const history = new History('busy').define({ schedule: { everyMs: minute }, target: { handler: 'noop' } })
    for (let each = 1; each <= 9; each++) history.run(each, each)
    const { ledger, findings } = ledgerOf({ ledger: { runsMax: given.runsMax } })
    await ledger.restore()
    // The topic of dispatches is read ahead of that of states.
    const ahead = history.logged.filter(({ topic }) => topic === 'executions')
    const behind = history.logged.filter(({ topic }) => topic !== 'executions')
    for (const { fact } of [...ahead, ...behind]) {
      await ledger.take([fact], now)
      if (given.isStepwise && fact.kind !== 'dispatch') await ledger.settle(presentAt(fact.at + graceMs + 1))
    }
    await ledger.settle({ ...presentAt(at(10) - 1), isFinal: true })
    expect(findings).toEqual([])
    expect(ledger.tally.unjudged).toMatchObject({ runs: given.runs, calendar: given.calendar })
  })

  it('recognizes a judged run that is dispatched again much later', async () => {
    const store = memoryStore()
    const findings: Finding[] = []
    const scope = { from: 0, to: Number.POSITIVE_INFINITY, graceMs }
    const ledger = new Ledger({ store, scope, onFinding: (finding) => void findings.push(finding) })
    await ledger.restore()
    await ledger.take(
      ninth().logged.map(({ fact }) => fact),
      now,
    )
    await ledger.settle(presentAt(at(9.9)))
    expect(ledger.tally.runs).toBe(9)
    await ledger.save(undefined)
    const again = new History().dispatch(4, 4).logged.map(({ fact }) => ({ ...fact, at: at(9.95) }))
    await ledger.take(again, now)
    await ledger.settle(presentAt(at(9.95) + graceMs + 1))
    expect(findings).toEqual([{ kind: 'duplicate', what: 'job/4', detail: 'it was dispatched again after it had ended' }])
    expect(ledger.tally.runs).toBe(9)
  })

  it('recognizes a judged run that ends again much later', async () => {
    const { ledger, findings } = ledgerOf()
    await ledger.restore()
    const facts = ninth().logged.map(({ fact }) => fact)
    await ledger.take(facts, now)
    await ledger.settle(presentAt(at(9.9)))
    const again = ninth().state(at(9.95), { lastRun: { ...finishedRun(8, 8), status: 'DEAD', finishedAt: at(9.94) } })
    await ledger.take(
      again.logged.slice(-1).map(({ fact }) => fact),
      now,
    )
    expect(findings).toMatchObject([{ kind: 'ended-twice', what: 'job/8' }])
  })

  it('continues after a state that a broken owner ends twice in one store', async () => {
    const { verdict } = await stepwise(
      ninth().state(at(9.5), { lastRun: { ...finishedRun(9, 9), status: 'DEAD', finishedAt: at(9.4) } }).logged,
      1,
      true,
    )
    expect(verdict.findings).toMatchObject([{ kind: 'ended-twice', what: 'job/9' }])
  })
})
