/** What an audit finds in histories of a job: each with what it must find, and without. */
import { describe, expect, it } from 'vitest'
import { activeRun, at, finishedRun, graceMs, History, judged, ledgerOf, minute, ninth, presentAt, start } from './history.ts'

const findings = async (history: History, options = {}) => (await judged(history.logged, options)).findings
const kinds = async (history: History, options = {}) => (await findings(history, options)).map(({ kind }) => kind)

describe('an audit finds', () => {
  it('nothing where each occurrence ran once', async () => {
    expect(await judged(ninth().logged)).toMatchObject({
      ...{ runs: 9, jobs: 1, occurrences: 9, succeeded: 9, open: 0, dead: 0, retried: 0, startedAgain: 0, unjudged: 0 },
      ...{ findings: [], lateness: { p50: 2, p99: 2, max: 2 } },
    })
  })
  it('an attempt that was dispatched twice', async () => {
    expect(await findings(ninth().dispatch(4, 4))).toEqual([
      { kind: 'duplicate', what: 'job/4', detail: 'attempt 1 was dispatched 2 times' },
    ])
  })
  it('an occurrence with two runs', async () => {
    const history = ninth().run(10, 9.2, { nominal: 4, next: 10 })
    const detail = `${new Date(at(4)).toISOString()} is run 4 and run 10`
    expect(await findings(history)).toEqual([{ kind: 'duplicate', what: 'job', detail }])
  })
  it('an attempt that started before it was due', async () => {
    expect(await findings(ninth().report(3, { startedAt: at(3) - 5 }))).toEqual([
      { kind: 'early', what: 'job/3', detail: 'attempt 1 started 5 ms before it was due' },
    ])
  })
  it("a run that by the broker's clock had started before it was due, whatever the clocks of owner and worker said", async () => {
    const early = (by: boolean) => {
      const history = new History().define().dispatch(1, 1)
      // The clocks of owner and worker are 30 s ahead: by them all is well.
      history.state(at(1) - 30_050, { runNo: 1, scheduledRuns: 1, nextFireAt: at(2), active: [activeRun(1, 1, 7)] }, by)
      return history.report(1, { startedAt: at(1) + 2 }).end(1, 1, {}, by, at(1) - 29_980)
    }
    const detail = "by the broker's clock it had started 29980 ms before it was due"
    expect(await findings(early(true), { now: at(1) })).toEqual([{ kind: 'early', what: 'job/1', detail }])
    expect(await findings(early(false), { now: at(1) })).toEqual([])
  })
  it('a record of a topic target that the broker appended before its time', async () => {
    const history = (when: number) => {
      const delivered = { worker: null, startedAt: at(1) + 1, finishedAt: at(1) + 1 }
      const target = { topic: { name: 'orders' } }
      const defined = new History().define({ schedule: { everyMs: minute }, target }).record(1, 1, when, true)
      return defined.state(at(1), {
        runNo: 1,
        scheduledRuns: 1,
        nextFireAt: at(2),
        lastRun: { ...finishedRun(1, 1), ...delivered },
      })
    }
    expect(await findings(history(at(1) + 3), { now: at(1) + 9 })).toEqual([])
    expect(await kinds(history(at(1) - 383_000), { now: at(1) + 9 })).toEqual(['early'])
    expect(await kinds(history(at(1) + 3).record(1, 1), { now: at(1) + 9 })).toEqual(['duplicate'])
    const unwritten = history(at(1) + 3).logged.filter(({ topic }) => topic !== 'target')
    const read = { now: at(1) + 9, targetTopics: new Set(['orders']) }
    expect((await judged(unwritten, read)).findings).toMatchObject([{ kind: 'undispatched', what: 'job/1' }])
    expect((await judged(unwritten, { ...read, targetTopics: new Set(['others']) })).findings).toEqual([])
  })
  it('occurrences without a run, unless the owner counted them as skipped', async () => {
    const detail = `2 occurrences have no run, the first ${new Date(at(3)).toISOString()}`
    expect(await findings(ninth([3, 5]))).toEqual([{ kind: 'missed', what: 'job', detail }])
    expect(await kinds(ninth([3, 5], 1))).toEqual(['missed'])
    expect(await findings(ninth([3, 5], 2))).toEqual([])
  })
  it.each([
    ['of a topic target', { topic: { name: 'orders' } }, {}],
    ['of a pinned job', { handler: 'noop' }, { pinTo: 'w' }],
    ['of a job with a limit', { handler: 'noop' }, { concurrencyKey: 'k' }],
  ])('occurrences %s without a run', async (_which, target, more) => {
    const history = (without: number[]) => {
      const defined = new History().define({ schedule: { everyMs: minute }, target, ...more })
      let runNo = 0
      for (let each = 1; each <= 9; each++) {
        if (without.includes(each)) continue
        runNo++
        if ('topic' in target) {
          const lastRun = { ...finishedRun(runNo, each), worker: null, startedAt: at(each), finishedAt: at(each) }
          defined.state(at(each), { runNo, scheduledRuns: runNo, nextFireAt: at(each + 1), lastRun })
        } else {
          defined.dispatch(runNo, each, {}, 'control').run(runNo, each, { without: ['dispatch'] })
        }
      }
      return defined.state(at(9) + 30, { nextFireAt: at(10) })
    }
    expect(await findings(history([]))).toEqual([])
    expect(await kinds(history([4]))).toEqual(['missed'])
  })
  it('a job whose time has passed without a decision', async () => {
    expect(await kinds(ninth(), { now: at(10) + 10_001 })).toEqual(['overdue'])
    expect(await kinds(ninth(), { now: at(10) + 9_999 })).toEqual([])
    const once = new History('once', 1).define({ schedule: { at: at(1) }, target: { handler: 'noop' } })
    expect(await kinds(once)).toEqual(['overdue'])
    const conditional = new History('once', 1).define({ schedule: { at: at(1) }, target: { handler: 'noop' } }, start, true)
    expect(await kinds(conditional)).toEqual([])
  })
  it('a run that was dispatched and of which its job knows nothing', async () => {
    const history = () => ninth().dispatch(10, 9.5, { trigger: 'MANUAL' })
    const known = { ...finishedRun(10, 9.5), trigger: 'MANUAL', status: 'EXPIRED' } as const
    expect(await kinds(history().state(at(9.6), { runNo: 10 }))).toEqual(['gap', 'lost'])
    expect(await findings(history().state(at(9.6), { runNo: 10, lastRun: known }))).toEqual([])
  })
  it('a run that was under way and is no more, without an end', async () => {
    const history = () => ninth().run(10, 9.5, { without: ['end', 'report'], more: { trigger: 'MANUAL' }, next: 10 })
    expect(await findings(history())).toEqual([])
    expect(await findings(history().state(at(9.7), { active: [] }))).toEqual([
      { kind: 'lost', what: 'job/10', detail: 'it was active, and its job no longer names it' },
    ])
  })
  it('a run that nobody started by its deadline', async () => {
    const active = [activeRun(10, 9.5, 7, { trigger: 'MANUAL', startDeadlineAt: at(9.6) })]
    const history = ninth().dispatch(10, 9.5, { trigger: 'MANUAL', startDeadlineAt: at(9.6) })
    history.state(at(9.5), { runNo: 10, active })
    expect(await judged(history.logged)).toMatchObject({ open: 1, findings: [{ kind: 'lost', what: 'job/10' }] })
    // Its owner waits some seconds for reports before it expires.
    expect(await kinds(history, { now: at(9.6) + 5_000 + graceMs - 1 })).toEqual([])
  })
  it('a run number that no run has', async () => {
    const history = new History().define().run(1, 1).run(3, 2)
    expect(await findings(history, { now: at(2) + 60 })).toMatchObject([{ kind: 'gap', what: 'job/2' }])
  })
  it('an attempt that stands as handed out, or succeeded, and was never dispatched', async () => {
    const out = new History().define().run(1, 1, { without: ['dispatch', 'report', 'end'] })
    const detail = 'attempt 1 is dispatched to the workers by its state, and was never dispatched'
    expect(await findings(out, { now: at(1) + 60 })).toEqual([{ kind: 'undispatched', what: 'job/1', detail }])
    const ended = new History().define().run(1, 1, { without: ['dispatch'] })
    expect(await kinds(ended, { now: at(1) + 60 })).toEqual(['undispatched'])
    // Retention has taken the dispatches of that time.
    expect(await findings(ended, { now: at(1) + 60, completeFrom: { executions: at(2), control: 0 } })).toEqual([])
  })
  it('a run that ended twice, or went on after its end', async () => {
    const again = ninth().state(at(9.5), { lastRun: { ...finishedRun(9, 9), status: 'DEAD', finishedAt: at(9.4) } })
    expect(await findings(again)).toMatchObject([{ kind: 'ended-twice', what: 'job/9' }])
    const revived = ninth().state(at(9.5), { active: [activeRun(8, 8, 7, { status: 'RUNNING' })] })
    expect(await kinds(revived)).toEqual(['ended-twice'])
  })
})

/** Forty occurrences without a finding, of which `later` adds what is read after the first were judged as of `first`. */
async function isFaultless(history: History, first: ReturnType<typeof presentAt>, later: () => unknown): Promise<void> {
  const { ledger, findings: found } = ledgerOf()
  await ledger.restore()
  const now = at(41)
  const factsFrom = (from: number) => history.logged.slice(from).map(({ fact }) => fact)
  const read = history.logged.length
  await ledger.take(factsFrom(0), now)
  await ledger.settle(first)
  later()
  await ledger.take(factsFrom(read), now)
  await ledger.settle(presentAt(now - 1))
  expect(found).toEqual([])
  expect(ledger.tally.occurrences).toBe(40)
}

describe('an audit holds nothing against', () => {
  it('a retry, a second start by another worker, and a dead run', async () => {
    const history = ninth()
    history.dispatch(9, 9, { attempt: 2, dueAt: at(9) + 1_000 })
    history
      .report(9, { attempt: 2, type: 'FAILED', startedAt: at(9) + 1_001 })
      .report(2, { worker: 'other', startedAt: at(2) + 2 })
    expect(await judged(history.logged)).toMatchObject({ retried: 1, startedAgain: 1, succeeded: 9, findings: [] })
    const dead = new History()
      .define()
      .run(1, 1, { without: ['report', 'end'] })
      .deadLetter(1, 1)
    dead.report(1, { type: 'FAILED', startedAt: at(1) + 2 }).end(1, 1, { status: 'DEAD' })
    expect(await judged(dead.logged, { now: at(1) + 60 })).toMatchObject({ dead: 1, succeeded: 0, findings: [] })
  })
  it('a job of the same id that was deleted and defined again, whose runs begin at 1 again', async () => {
    const before = new History('job', 3)
      .define()
      .run(1, 1)
      .run(2, 2)
      .gone(at(2) + 90)
    const after = new History('job', 7).define({ schedule: { at: at(2) }, target: { handler: 'noop' } }, at(2) + 95)
    after.run(1, 2).state(at(3), { status: 'COMPLETED', nextFireAt: null })
    expect(await judged([...before.logged, ...after.logged])).toMatchObject({ runs: 3, findings: [] })
    const cut = new History('job', 3).dispatch(1, 4)
    expect(await findings(ninth())).toEqual([])
    expect((await judged([...cut.logged, ...ninth().logged])).findings).toEqual([])
  })
  it('runs of a job that is no more', async () => {
    const history = ninth()
      .run(10, 9.5, { without: ['report', 'end'] })
      .gone(at(9.9))
    expect(await judged(history.logged)).toMatchObject({ jobs: 0, open: 0, findings: [] })
  })
  it('what is out of the range asked for', async () => {
    expect(await judged(ninth([3]).logged, { scope: { from: at(4), to: at(6) } })).toMatchObject({ runs: 2, findings: [] })
    expect(await kinds(ninth([3]), { scope: { from: at(2), to: at(4) } })).toEqual(['missed'])
  })
  it('runs that a limit keeps, or has kept until they ended', async () => {
    const history = new History().define({ schedule: { everyMs: minute }, target: { handler: 'noop' }, concurrencyKey: 'k' })
    history.run(1, 1)
    const waiting = [activeRun(2, 2, 7, { status: 'WAITING' }), activeRun(3, 3, 7, { status: 'WAITING' })]
    history.state(at(3), { runNo: 3, scheduledRuns: 3, nextFireAt: at(4), active: waiting })
    expect(await judged(history.logged, { now: at(3) + 60 })).toMatchObject({ runs: 1, waiting: 2, open: 0, findings: [] })
    history.end(2, 2, { status: 'EXPIRED', startedAt: null, worker: null }, false, at(3) + 30)
    expect(await judged(history.logged, { now: at(3) + 60 })).toMatchObject({ waiting: 1, findings: [] })
  })
  it('a run that waits for its paused pool, past its deadline: one that was never dispatched, and one that a worker gave back', async () => {
    const given = activeRun(10, 9.5, 7, { startDeadlineAt: at(9.6), status: 'RETRY_WAIT', poolPausedAt: at(9.5), tellAt: at(12) })
    const history = ninth().dispatch(10, 9.5, { trigger: 'MANUAL', startDeadlineAt: at(9.6) })
    const active = [given, { ...given, runNo: 11 }].map((run) => ({ ...run, trigger: 'MANUAL' as const }))
    history.state(at(9.5), { runNo: 11, active })
    expect(await findings(history, { paused: ['default'] })).toEqual([])
    expect(await kinds(history, { paused: ['other'] })).toEqual(['lost', 'lost'])
    // When the pool is resumed, its owner has a grace to dispatch them.
    const { ledger, findings: found } = ledgerOf()
    await ledger.restore()
    for (const { fact } of history.logged) await ledger.take([fact], at(9.9))
    await ledger.settle(presentAt(at(9.9), { paused: ['default'] }))
    await ledger.settle(presentAt(at(9.9) + 2 * graceMs - 1))
    expect(found.filter(({ kind }) => kind === 'lost')).toEqual([])
    await ledger.settle(presentAt(at(9.9) + 2 * graceMs))
    expect(found.filter(({ kind }) => kind === 'lost')).toHaveLength(2)
  })
  it('a queued occurrence, one that becomes a run later, and one that was queued and skipped', async () => {
    const queued = () =>
      new History()
        .define()
        .run(1, 1, { without: ['report', 'end'] })
        .state(at(2), { queuedFor: at(2), nextFireAt: at(3) })
    expect(await findings(queued(), { now: at(2) + 60 })).toEqual([])
    const ran = queued()
      .report(1, { startedAt: at(1) + 2 })
      .end(1, 1, {}, false, at(2.5))
      .run(2, 2, { next: 3 })
    expect(await findings(ran.state(at(2.6), { queuedFor: null }), { now: at(2.7) })).toEqual([])
  })
  it('instants that an interval excludes', async () => {
    const target = { handler: 'noop' }
    const defined = (exdates: number[]) => {
      const history = new History().define({ schedule: { everyMs: minute, exdates }, target })
      let runNo = 0
      for (const each of [2, 3, 5, 8, 9])
        history.run(++runNo, each, { next: ({ 3: 5, 5: 8 } as Record<number, number>)[each] ?? each + 1 })
      return history
    }
    expect(await judged(defined([1, 4, 6, 7].map(at)).logged)).toMatchObject({ findings: [], occurrences: 5 })
    expect(await kinds(defined([at(1), at(4), at(6)]))).toEqual(['missed'])
  })
  it('runs from before a pause, where the many that make up for it are read before their states', async () => {
    const history = new History().define()
    for (const each of [1, 2, 3]) history.run(each, each)
    history.state(at(3) + 50, { status: 'PAUSED' })
    for (let each = 4; each <= 40; each++) history.dispatch(each, 40, { scheduledFor: at(each), dueAt: at(each) })
    const active = Array.from({ length: 37 }, (_, index) =>
      activeRun(index + 4, 40, 7, { scheduledFor: at(index + 4), dueAt: at(index + 4) }),
    )
    await isFaultless(history, presentAt(at(40) - 60), () =>
      history.state(at(40) - 50, { status: 'ACTIVE', runNo: 40, scheduledRuns: 40, nextFireAt: at(41), active }),
    )
  })
  it('many runs that are judged before the first state that compaction has left', async () => {
    const history = new History().define()
    for (let each = 1; each <= 40; each++) history.run(each, each, { without: ['state', 'end'] })
    await isFaultless(history, { ...presentAt(at(40)), isPresent: false }, () =>
      history.state(at(40) + 60, { runNo: 40, scheduledRuns: 40, nextFireAt: at(41), lastRun: finishedRun(40, 40) }),
    )
  })
  it('states that compaction has taken: the last ten ends of runs are kept, and nothing is said of those before', async () => {
    const { logged } = ninth()
    const history = new History().define()
    for (let each = 10; each <= 40; each++) history.run(each, each)
    const all = [...logged.filter(({ topic }) => topic === 'executions' || topic === 'events'), ...history.logged]
    const states = all.filter(({ topic }) => topic === 'state')
    const kept = new Set([...states.slice(-1), ...states.filter(({ fact }) => fact.kind === 'finished').slice(-10)])
    const compacted = all.filter((each) => each.topic !== 'state' || kept.has(each))
    expect(await judged(compacted, { now: at(40) + 60 })).toMatchObject({ runs: 40, succeeded: 40, findings: [] })
  })
  it('a pinned run whose worker is told of it again and again', async () => {
    const history = new History().define({ schedule: { everyMs: minute }, target: { handler: 'noop' }, pinTo: 'w' })
    history
      .dispatch(1, 1, {}, 'control')
      .dispatch(1, 1, {}, 'control')
      .run(1, 1, { without: ['dispatch'] })
    expect(await findings(history, { now: at(1) + 60 })).toEqual([])
  })
  it('events whose executions the log no longer has', async () => {
    const old = new History('job', 2).report(3, { startedAt: start - minute })
    expect(await judged([...old.logged, ...ninth().logged])).toMatchObject({ runs: 9, findings: [] })
  })
})
