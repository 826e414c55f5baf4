/** The pure judgement: what makes a wall clock trusted or not, by readings that are written down and by random histories. */
import { describe, expect, it } from 'vitest'
import { ClockTrust } from '../../src/ground/clock/clock-trust.ts'
import { mulberry32 } from '../tools/mulberry32.ts'

const beginMs = 1_800_000_000_000
const hourMs = 3_600_000

/** A machine beside brokers: true time, a wall and a steady clock upon it. */
class World {
  trueMs = 0
  skewMs = 0
  asleepMs = 0
  readonly trust: ClockTrust
  constructor(needsProof = true, stepMsMax = 2_000) {
    this.trust = new ClockTrust({ stepMsMax, needsProof })
  }
  get steadyMs(): number {
    return this.trueMs - this.asleepMs
  }
  look(): boolean {
    return this.trust.check(beginMs + this.trueMs + this.skewMs, this.steadyMs)
  }
  /** Time passes, with a look now and then. */
  pass(ms: number, everyMs = 1_000): boolean {
    for (let left = ms; left > 0; left -= everyMs) {
      this.trueMs += Math.min(left, everyMs)
      this.look()
    }
    return this.look()
  }
  /** A broker appends a record: `toMs` on the way there, `backMs` on the way back. */
  append(source = 'broker 1', brokerSkewMs = 0, toMs = 2, backMs = 3): void {
    const sentMs = this.steadyMs
    this.trueMs += toMs
    const brokerMs = Math.floor(beginMs + this.trueMs + brokerSkewMs)
    this.trueMs += backMs
    this.trust.appended({ source, sentMs, receivedMs: this.steadyMs, brokerMs })
  }
  static proven(stepMsMax = 2_000): World {
    const world = new World(true, stepMsMax)
    world.look()
    world.append()
    expect(world.look()).toBe(true)
    return world
  }
}

describe('at the start', () => {
  it('nothing is decided before a broker has said the time, and at once when it agrees', () => {
    const world = new World()
    expect([world.look(), world.pass(hourMs), world.trust.distrust]).toEqual([false, false, 'unproven'])
    world.append()
    expect(world.look()).toBe(true)
  })
  it.each([hourMs, -hourMs, 2_100, -2_100])('a clock that is wrong by %i ms is found out without any step', (skewMs) => {
    const world = new World()
    world.skewMs = skewMs
    world.append()
    expect([world.look(), world.trust.distrust]).toEqual([false, 'brokers'])
    expect(Math.round((world.trust.offsetMs ?? 0) / 100)).toBe(Math.round(skewMs / 100))
    world.skewMs = 0
    expect(world.look()).toBe(true)
  })
  it('is trusted where no proof is needed', () => {
    expect(new World(false).look()).toBe(true)
  })
})

describe('a step', () => {
  it.each([hourMs, -hourMs, 24 * hourMs, 2_100, -2_100])(
    'of %i ms stops at the very reading, until it is set right',
    (skewMs) => {
      const world = World.proven()
      world.pass(5_000)
      world.skewMs = skewMs
      expect([world.look(), world.trust.distrust]).toEqual([false, 'step'])
      world.append()
      expect(world.pass(60_000)).toBe(false)
      world.skewMs = 0
      expect(world.look()).toBe(true)
    },
  )
  it('within the bound is followed; many of them are not', () => {
    const world = World.proven()
    world.skewMs = 1_500
    expect(world.look()).toBe(true)
    world.trueMs += 10
    world.skewMs = 3_000
    expect(world.look()).toBe(false)
  })
  it('in many small steps one after another is a step, also where no broker has ever said the time', () => {
    const world = new World(false)
    world.look()
    const looks: boolean[] = []
    for (let step = 0; step < 10; step++) {
      world.trueMs += 10
      world.skewMs += 500
      looks.push(world.look())
    }
    expect(looks.at(0)).toBe(true)
    expect([looks.at(-1), world.trust.distrust]).toEqual([false, 'step'])
  })
  it('that brings a wrong clock to the right time is taken over as soon as a broker agrees', () => {
    const world = World.proven()
    world.skewMs = 1_900
    expect(world.pass(20_000)).toBe(true)
    world.skewMs = -1_000
    expect(world.look()).toBe(false)
    world.append()
    expect(world.look()).toBe(true)
  })
  it('without any word of brokers is taken over after half a minute where no proof is needed', () => {
    const world = new World(false)
    world.look()
    world.skewMs = hourMs
    expect([world.look(), world.pass(29_000), world.pass(2_000)]).toEqual([false, false, true])
  })
})

describe('a sleep', () => {
  it.each([0, hourMs])('of an hour ends with the first answer; the steady clock stood still for %i ms of it', (asleepMs) => {
    const world = World.proven()
    for (const source of ['broker 2', 'broker 3']) world.append(source)
    world.trueMs += hourMs
    world.asleepMs += asleepMs
    expect(world.look()).toBe(asleepMs === 0)
    world.append()
    expect(world.look()).toBe(true)
  })
  it('is over, although the brokers that said the time before it lead nothing any more', () => {
    const world = World.proven()
    for (const source of ['broker 2', 'broker 3']) world.append(source)
    world.trueMs += hourMs
    world.asleepMs += hourMs
    expect(world.look()).toBe(false)
    const looks = new Set<boolean>()
    for (let second = 0; second < 1_200; second++) {
      world.append()
      looks.add(world.pass(1_000))
    }
    expect([...looks]).toEqual([true])
  })
})

describe('slewing', () => {
  it('of 500 ppm, beside brokers that are slewed alike, is no step, looked at each second or each hour', () => {
    for (const everyMs of [1_000, hourMs]) {
      const world = World.proven()
      for (let passedMs = 0; passedMs < 24 * hourMs; passedMs += everyMs) {
        world.trueMs += everyMs
        world.skewMs += everyMs * 0.000_5
        if (everyMs === hourMs || passedMs % 60_000 === 0) world.append('broker 1', world.skewMs)
        expect(world.look()).toBe(true)
      }
    }
  })
  it('away from the brokers stops when the difference is beyond the bound', () => {
    const world = World.proven()
    for (let passedMs = 0; passedMs < 2 * hourMs; passedMs += 1_000) {
      world.trueMs += 1_000
      world.skewMs += 0.5
      if (passedMs % 10_000 === 0) world.append()
      if (world.skewMs < 1_990) expect(world.look()).toBe(true)
    }
    expect([world.look(), world.trust.distrust]).toEqual([false, 'brokers'])
    // Not before it is well within the bound.
    world.skewMs = 1_500
    world.append()
    expect(world.look()).toBe(false)
    world.skewMs = 900
    world.append()
    expect(world.look()).toBe(true)
  })
})

describe('brokers', () => {
  it('of which one is wrong stop nothing, and it is named', () => {
    const world = World.proven()
    world.append('broker 2', hourMs)
    world.append('broker 3')
    expect([world.look(), world.trust.disagreeing]).toEqual([true, ['broker 2']])
  })
  it('that all say another time stop the clock although it ran evenly', () => {
    const world = World.proven()
    world.append('broker 1', hourMs)
    expect([world.look(), world.trust.distrust]).toEqual([false, 'brokers'])
    world.append('broker 1')
    expect(world.look()).toBe(true)
  })
  it('that answer slowly are believed the later, the slower', () => {
    const world = World.proven()
    world.asleepMs += hourMs
    expect(world.look()).toBe(false)
    world.append('broker 1', 0, 100, 9_000)
    expect([world.look(), world.pass(9_500)]).toEqual([false, true])
  })
})

it('0 compares nothing', () => {
  const world = new World(true, 0)
  world.skewMs = hourMs
  world.append()
  expect(world.look()).toBe(true)
  world.skewMs = -hourMs
  expect(world.look()).toBe(true)
})

describe.each(Array.from({ length: 40 }, (_, seed) => seed))('random history %i', (seed) => {
  it('no reading is trusted that is further from the time than the bound and the last answer allow; a right clock is trusted in the end', () => {
    const random = mulberry32(seed)
    const stepMsMax = [500, 2_000, 10_000][seed % 3] ?? 2_000
    const world = new World(true, stepMsMax)
    let trusted = 0
    for (let turn = 0; turn < 3_000; turn++) {
      const kind = random()
      if (kind < 0.02) world.skewMs = (random() - 0.5) * 2 * ([10, 1_000, hourMs, 48 * hourMs][Math.floor(random() * 4)] ?? 0)
      else if (kind < 0.04) world.skewMs = 0
      else if (kind < 0.05) {
        const sleptMs = random() * hourMs
        world.trueMs += sleptMs
        if (random() < 0.5) world.asleepMs += sleptMs
      } else if (kind < 0.4) world.append('broker 1', 0, random() * 200, random() * 200)
      else world.trueMs += random() * 3_000
      if (!world.look()) continue
      trusted++
      // Until the next answer, small steps may add up to as much as the last answer left open.
      expect(Math.abs(world.skewMs)).toBeLessThanOrEqual(stepMsMax + 2_100)
    }
    expect(trusted).toBeGreaterThan(100)
    world.skewMs = 0
    world.append()
    expect(world.look()).toBe(true)
  })
})
