/**
 * The decision core with random definitions, commands, reports and times: it never throws, always ends, and its counts are
 * consistent.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobDefinition } from '../../../schemas/generated.ts'
import { Chance } from '../../../src/testing/simulation/chance.ts'
import { validateDefinition } from '../../../streams/definitions/validate.ts'
import { waitersOf } from '../../../streams/state/slots.ts'
import { usually } from '../../setup/long.ts'
import { Invariants } from '../invariants.ts'
import { wildDefinition } from '../jobs/samples.ts'
import { randomCommand, randomReport } from '../random-acts.ts'
import { randomDefinition } from '../random-definition.ts'
import { JobHistory } from '../runs/history.ts'

const begin = 1_800_000_000_000
/** The decisions of one history, timers included. Its times are at most a few hundred of the shortest intervals apart. */
const decisionsMax = 2_000
const definitions = usually(30_000, 1_000_000)

describe('any history of a job', () => {
  it(`of ${definitions.toLocaleString('en')} valid definitions keeps the invariants`, { timeout: 600_000 }, () => {
    const seen = { definitions: 0, decisions: 0 }
    for (let seed = 1; seen.definitions < definitions; seed++) {
      const chance = new Chance(seed)
      const next = (now: number): JobDefinition => {
        seen.definitions++
        return randomDefinition(chance, now)
      }
      told(`seed ${seed}`, () => {
        seen.decisions += live(chance, next, chance.happens(0.02) ? 60 : chance.int(2, 6))
      })
    }
    expect(seen.decisions).toBeGreaterThan(seen.definitions * 2)
  })
  it('of 10,000 random definitions keeps them too, and refuses invalid ones', { timeout: 120_000 }, () => {
    const wild = fc.sample(wildDefinition(), { numRuns: 10_000, seed: 1 })
    let sound = 0
    for (let seed = 0; wild.length > 0; seed++) {
      const next = (): JobDefinition => {
        const definition = wild.pop() as JobDefinition
        if (validateDefinition(definition).length === 0) sound++
        return definition
      }
      told(`seed ${seed}`, () => live(new Chance(seed), next, 3))
    }
    expect(sound).toBeGreaterThan(500)
  })
})

function told(where: string, act: () => void): void {
  try {
    act()
  } catch (error) {
    throw new Error(`${where}: ${error}`, { cause: error })
  }
}

/** Runs one history with this many acts, and returns the number of its decisions. */
function live(chance: Chance, next: (now: number) => JobDefinition, acts: number): number {
  const leadMs = chance.pick([0, 100])
  const job = new JobHistory({ leadMs, ...(chance.happens(0.3) && { worker: { type: 'SUCCEEDED' as const } }) })
  job.now = begin + chance.int(0, 5_000)
  const invariants = new Invariants(job)
  const define = (): void => {
    const spec = next(job.now)
    const [problem] = validateDefinition(spec)
    job.definition(problem === undefined ? { spec } : { problem: problem.message })
    invariants.check('definition')
  }
  define()
  for (let act = 0; act < acts; act++) {
    const admit = waitersOf('job', job.job.state).length > 0 ? 4 : 0
    const kind = chance.weighted({ time: 4, down: 1, command: 3, report: 4, admit, define: 1, garble: 0.2, remove: 0.1 })
    if (kind === 'define') define()
    else if (kind === 'garble') job.garble()
    else if (kind === 'remove') job.remove()
    else if (kind === 'time') job.until(job.now + chance.int(0, 3_000))
    else if (kind === 'down') job.downUntil(job.now + chance.int(0, 20_000))
    else if (kind === 'report') randomReport(job, chance)
    else if (kind === 'admit') job.admit()
    else {
      const type = randomCommand(job, chance)
      invariants.check(type === 'RESUME' ? 'RESUME' : 'command')
    }
    invariants.check(kind === 'garble' ? 'definition' : 'event')
    if (job.decisions.length > decisionsMax) throw new Error(`${job.decisions.length} decisions in ${act} acts`)
  }
  return job.decisions.length
}
