/**
 * A timer may be judged before its time: the clock can be set back between the moment when an owner takes it and the moment when it is
 * judged. The owner removes a timer that it has judged, so a rule that does nothing yet has to put it off.
 */
import { expect, it } from 'vitest'
import { Chance } from '../../../src/testing/simulation/chance.ts'
import { type Timer, timerKey, timerKind } from '../../../streams/state/keys.ts'
import { timersOf } from '../../../streams/state/timers.ts'
import { randomCommand, randomReport } from '../random-acts.ts'
import { randomDefinition } from '../random-definition.ts'
import { step } from './chain-steps.ts'
import { JobHistory } from './history.ts'

const begin = 1_800_000_000_000

function randomJob(chance: Chance): JobHistory {
  const history = new JobHistory({ ...(chance.happens(0.1) && { poolProblem: () => 'It has no topics.' }) })
  history.now = begin
  if (chance.happens(0.2))
    history.workers = chance.pick<Record<string, string[]>>([{ w: ['noop'] }, { w: ['noop'], v: [] }, { v: [] }])
  if (chance.happens(0.1)) history.pause = { at: begin, isDrained: false }
  history.others = { held: chance.int(0, 2), waiting: 0 }
  for (let count = chance.int(1, 20); count > 0; count--) {
    const act = history.job.definition === undefined ? 0 : chance.int(0, 9)
    if (act < 2) history.definition({ spec: randomDefinition(chance, history.now) })
    else if (act < 4) randomCommand(history, chance)
    else if (act < 7 && history.sent.length > 0) randomReport(history, chance)
    else history.until(history.now + chance.int(0, 3_000))
  }
  return history
}

it('no timer that its job still needs is lost because it is judged before its time', () => {
  const met = new Set<number>()
  const needs = (timer: Timer, others: readonly Timer[]): boolean =>
    others.some((other) => timerKey(other).equals(timerKey(timer)))
  for (let seed = 0; seed < 2_000; seed++) {
    const { job: last, snapshots } = randomJob(new Chance(seed))
    const job = { ...last, snapshots }
    for (const timer of timersOf(job)) {
      for (const earlyMs of [1, 60_000, 6 * 3_600_000]) {
        const decision = step(job, { kind: 'timer', timer }, timer.dueAt - earlyMs)
        const isPutOff = decision.deferUntil !== undefined || decision.awaitsEventsUntil !== undefined
        const isSetAgain = isPutOff || decision.extraTimers.length > 0 || decision.job.state !== job.state
        const isDone = isSetAgain || decision.out.length > 0 || !needs(timer, timersOf(decision.job))
        expect(isDone, `seed ${seed}: kind ${timer.kind}, ${earlyMs} ms early`).toBe(true)
        met.add(timer.kind)
      }
    }
  }
  const { fire, retry, startDeadline, lease, attemptTimeout, recheck, start } = timerKind
  for (const kind of [fire, retry, startDeadline, lease, attemptTimeout, recheck, start, timerKind.delete])
    expect([...met], `kind ${kind}`).toContain(kind)
})
