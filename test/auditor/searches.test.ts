/** Rules that take a search for each time, many of them in one judgement: the auditor rests between two, and gives up what takes too long. */
import { expect, it } from 'vitest'
import { timesStepsMax } from '../../src/tools/auditor/calendar.ts'
import { stepsSpent } from '../../streams/schedules/steps.ts'
import { at, History, ledgerOf, presentAt, start } from './history.ts'

const dayMs = 86_400_000
const places = Array.from({ length: 250 }, (_, place) => place + 1).join(',')
/** A time on most days, each of which is a search through a year. */
const rrule = `FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0;BYMINUTE=0;BYSECOND=0;BYSETPOS=${places}`

/** What is searched at most between two rests, and in all, until a job is judged that stood still for so many days. */
async function judging(days: number) {
  const passed = start + days * dayMs
  const history = new History()
    .define({ schedule: { rrule, dtstart: start }, target: { handler: 'x' } })
    .state(at(1), { nextFireAt: start + dayMs })
    .state(passed, { nextFireAt: passed, skipped: 1_000_000 })
  let [last, most] = [stepsSpent(), 0]
  const rest = (): undefined => {
    most = Math.max(most, stepsSpent() - last)
    last = stepsSpent()
  }
  const { ledger } = ledgerOf({ ledger: { rest } })
  const before = stepsSpent()
  await ledger.take(
    history.logged.map(({ fact }) => fact),
    passed,
  )
  await ledger.settle({ ...presentAt(passed + dayMs), isFinal: true })
  return { most, spent: stepsSpent() - before, tally: ledger.tally }
}

it('pauses between the times that it searches', async () => {
  const { most, spent, tally } = await judging(3_000)
  expect(tally.occurrences).toBeGreaterThan(1_900)
  expect(spent).toBeGreaterThan(500_000)
  expect(most).toBeLessThan(20_000)
})

it('skips a calendar whose search takes too long, and says so', async () => {
  const { spent, tally } = await judging(150_000)
  expect(tally.unjudged.calendar).toBe(1)
  expect(spent).toBeLessThan(timesStepsMax * 1.1)
})
