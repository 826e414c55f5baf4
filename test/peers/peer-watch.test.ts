/** Processes that watch each other, in virtual time: who is removed when, and who never is. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Logger } from '../../src/ground/logging/logger.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { PeerWatch } from '../../src/server/peers/peer-watch.ts'
import type { Peer } from '../../src/server/peers/watched-peer.ts'
import { ManualClock, VirtualTime } from '../tools/manual-clock.ts'

type Condition = 'up' | 'refused' | 'silent' | 'gone'
interface Process {
  url: string
  watch: PeerWatch
  clock: ManualClock
  condition: Condition
  isLeaving: boolean
  memberId: string
  /** Whether no broker answers it. */
  isDeaf: boolean
  heardAtMs: number
}

class World {
  readonly time = new VirtualTime()
  readonly processes = new Map<string, Process>()
  readonly removed: { by: string; instance: string; atMs: number; reason?: unknown }[] = []
  readonly logged: string[] = []
  /** Pairs that do not hear each other. */
  readonly cuts = new Set<string>()
  areBrokersUp = true
  /** Delay of the answer about another process. */
  hearsMs = 0
  /** Whether one that was removed joins again at once. */
  rejoins = false
  /** Members that have no address. */
  readonly foreign: string[] = []
  calls = 0
  brokersMs = 0
  readonly #startedAtMs = this.time.nowMs

  constructor(names: string, { fronts = false } = {}) {
    for (const name of names) this.#add(name, fronts)
  }

  get(name: string): Process {
    return this.processes.get(name) as Process
  }

  async pass(ms: number): Promise<void> {
    await this.time.advance(ms)
  }

  /** Two seconds in which all of them hear each other. */
  static async of(names: string, options: { fronts?: boolean } = {}): Promise<World> {
    const world = new World(names, options)
    for (const { watch } of world.processes.values()) watch.start()
    await world.pass(2_000)
    return world
  }

  get whom(): string[] {
    return this.removed.map(({ instance }) => instance)
  }

  #add(name: string, isFront: boolean): void {
    const clock = new ManualClock(this.time)
    const log = (_: object, text: string): void => void this.logged.push(text)
    const watch = new PeerWatch({
      ...{ groups: ['schedulers'], instance: name, clock, metrics: newMetrics() },
      logger: { warn: log } as unknown as Logger,
      members: async () => await this.#members(name),
      remote: (url) => this.#peer(name, url),
      urlOf: (note) => (note as { url?: string } | null)?.url,
      hasFront: () => isFront,
      isLeaving: () => this.get(name).isLeaving,
      brokersHeardAtMs: () => this.#heardAtMs(name),
      remove: async (instance) => {
        await this.#until(name, this.brokersMs)
        if (this.get(instance).memberId === '') throw new Error('The coordinator is not aware of this member')
        this.removed.push({ by: name, instance, atMs: this.time.nowMs - this.#startedAtMs })
        this.get(instance).memberId = this.rejoins ? `${instance}-${this.removed.length + 1}` : ''
        return 1
      },
    })
    this.processes.set(name, {
      watch,
      clock,
      condition: 'up',
      isLeaving: false,
      memberId: `${name}-1`,
      url: name,
      isDeaf: false,
      heardAtMs: 0,
    })
  }

  #until(name: string, ms: number): Promise<void> {
    const { clock } = this.get(name)
    return new Promise((resolve) => clock.at(clock.nowMs() + ms, resolve))
  }

  #heardAtMs(name: string): number {
    const heard = this.get(name)
    if (this.areBrokersUp && !heard.isDeaf) heard.heardAtMs = this.time.nowMs
    return heard.heardAtMs
  }

  async #members(name: string) {
    if (!this.areBrokersUp || this.get(name).isDeaf) await new Promise(() => {})
    if (this.brokersMs > 0) await this.#until(name, this.brokersMs)
    const known = [...this.processes].filter(([, { memberId }]) => memberId !== '')
    const none = { assigned: [], isJoining: false }
    return [
      ...known.map(([instance, { memberId, url }]) => ({ memberId, instance, userData: { url }, ...none })),
      ...this.foreign.map((instance) => ({ memberId: `${instance}-1`, instance, userData: null, ...none })),
    ]
  }

  #peer(from: string, url: string): Peer {
    // At an address that nobody has, nothing listens.
    const to = this.processes.has(url) ? url : ([...this.processes].find((each) => each[1].url === url)?.[0] ?? '')
    const call = async <Answer>(answer: () => Promise<Answer> | Answer): Promise<Answer> => {
      this.calls++
      if (this.get(to).condition === 'refused' || this.get(to).url !== url)
        throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
      const isCut = () => this.get(to).condition === 'silent' || this.cuts.has([from, to].sort().join())
      for (let waitedMs = 0; isCut(); waitedMs += 100) {
        if (waitedMs >= 1_500) throw new Error('late')
        await this.#until(from, 100)
      }
      const answered = await answer()
      // A process that is stopped does not hear it before it goes on, and then its time limit comes first.
      const sentAtMs = this.time.nowMs
      await this.#until(from, 0)
      if (this.time.nowMs - sentAtMs > 1_500) throw new Error('late')
      return answered
    }
    const { watch } = this.get(to)
    return {
      alive: () => call(() => (this.get(to).condition === 'gone' ? ('gone' as const) : watch.alive())),
      hears: (instance) =>
        call(async () => {
          const heard = watch.hears(instance)
          await this.#until(to, this.hearsMs)
          return heard
        }),
    }
  }
}

describe('a process that refuses connections', () => {
  it('is removed at once, by one of the two that watch it', async () => {
    const world = await World.of('abc')
    // Both of them may ask for it before the first answer.
    world.brokersMs = 50
    world.get('b').condition = 'refused'
    await world.pass(900)
    expect(world.whom).toEqual(['b'])
    expect(world.logged).toHaveLength(1)
    await world.pass(60_000)
    expect(world.whom).toEqual(['b'])
  })

  it('is removed by the other one of two', async () => {
    const world = await World.of('ab')
    world.get('a').condition = 'refused'
    await world.pass(700)
    expect(world.removed).toMatchObject([{ by: 'b', instance: 'a' }])
  })

  it('is left to its session if it has never answered', async () => {
    const world = new World('abc')
    world.get('b').condition = 'refused'
    for (const name of 'ac') world.get(name).watch.start()
    await world.pass(60_000)
    expect(world.whom).toEqual([])
  })

  it('behind a front is removed only after a second, or when the front says that its engine is dead', async () => {
    const world = await World.of('abc', { fronts: true })
    world.get('b').condition = 'refused'
    await world.pass(800)
    world.get('b').condition = 'up'
    await world.pass(5_000)
    expect(world.whom).toEqual([])
    world.get('b').condition = 'refused'
    await world.pass(1_700)
    expect(world.whom).toEqual(['b'])
    world.get('c').condition = 'gone'
    await world.pass(700)
    expect(world.whom).toEqual(['b', 'c'])
  })
})

describe('a silent process', () => {
  it('is removed after 2 s, if its other watcher hears nothing either', async () => {
    const world = await World.of('abcd')
    world.get('b').condition = 'silent'
    await world.pass(1_900)
    expect(world.whom).toEqual([])
    await world.pass(800)
    expect(world.whom).toEqual(['b'])
  })

  it('stays if its other watcher hears it', async () => {
    const world = await World.of('abcd')
    world.cuts.add('a,b')
    await world.pass(60_000)
    expect(world.whom).toEqual([])
  })

  it('stays if its other watcher does not answer', async () => {
    const world = await World.of('abcd')
    // They watch b.
    world.cuts.add('a,d')
    world.get('b').condition = 'silent'
    await world.pass(60_000)
    expect(world.whom).toEqual([])
  })

  it('of two is removed if the brokers answer the other one', async () => {
    const world = await World.of('ab')
    world.areBrokersUp = false
    world.get('b').condition = 'silent'
    await world.pass(20_000)
    expect(world.whom).toEqual([])
    world.areBrokersUp = true
    await world.pass(4_000)
    expect(world.whom).toEqual(['b'])
  })

  it('stays if it answers before the brokers do', async () => {
    const world = await World.of('ab')
    world.brokersMs = 900
    world.get('b').condition = 'silent'
    await world.pass(2_300)
    world.get('b').condition = 'up'
    await world.pass(10_000)
    expect(world.whom).toEqual([])
  })

  it('is not one whose watcher was stopped itself', async () => {
    const world = await World.of('ab')
    // So that the other one cannot remove it.
    world.areBrokersUp = false
    world.get('a').clock.stopped = true
    await world.pass(30_000)
    world.areBrokersUp = true
    world.get('a').clock.stopped = false
    await world.pass(10_000)
    expect(world.whom).not.toContain('b')
  })
})

describe('a process that no broker answers', () => {
  it('is removed after 3 s, while brokers answer those that watch it', async () => {
    const world = await World.of('abc')
    world.get('b').isDeaf = true
    await world.pass(2_900)
    expect(world.whom).toEqual([])
    await world.pass(1_200)
    expect(world.whom).toEqual(['b'])
    expect(world.logged).toHaveLength(1)
  })

  it('stays while no broker answers anybody, and when all hear them again', async () => {
    const world = await World.of('abc')
    world.areBrokersUp = false
    await world.pass(30_000)
    world.areBrokersUp = true
    await world.pass(30_000)
    expect(world.whom).toEqual([])
  })

  it('stays if one answers it while it is judged', async () => {
    const world = await World.of('ab')
    world.brokersMs = 900
    world.get('b').isDeaf = true
    await world.pass(3_200)
    world.get('b').isDeaf = false
    await world.pass(10_000)
    expect(world.whom).toEqual([])
  })

  it('stays if its brokers take a moment longer than it waits for them', async () => {
    const world = await World.of('ab')
    for (let time = 0; time < 10; time++) {
      world.get('b').isDeaf = true
      await world.pass(2_300)
      world.get('b').isDeaf = false
      await world.pass(2_000)
    }
    expect(world.whom).toEqual([])
  })

  it('is not one that was stopped itself, and has not read what they said', async () => {
    const world = await World.of('ab')
    const { clock } = world.get('b')
    clock.stopped = true
    await world.pass(1_500)
    clock.stopped = false
    world.get('b').isDeaf = true
    await world.pass(500)
    world.get('b').isDeaf = false
    await world.pass(5_000)
    expect(world.whom).toEqual([])
  })
})

describe('no removal', () => {
  it('of a process that is heard while its other watcher is asked', async () => {
    const world = await World.of('abc')
    world.hearsMs = 900
    world.get('b').condition = 'silent'
    await world.pass(2_200)
    world.get('b').condition = 'up'
    await world.pass(10_000)
    expect(world.whom).toEqual([])
  })

  it('of a process whose front has never said anything but that its engine is dead', async () => {
    const world = new World('ab', { fronts: true })
    world.get('b').condition = 'gone'
    world.get('a').watch.start()
    await world.pass(10_000)
    expect(world.whom).toEqual([])
  })

  it('of a silent one by a single watcher, where the others in the group have no address', async () => {
    const world = await World.of('ab')
    world.foreign.push('aa', 'c')
    await world.pass(2_000)
    world.get('b').condition = 'silent'
    await world.pass(30_000)
    expect(world.whom).toEqual([])
    world.get('b').condition = 'up'
    await world.pass(2_000)
    world.get('b').condition = 'refused'
    await world.pass(1_000)
    expect(world.whom).toEqual(['b'])
  })

  it('again and again, of two that cannot hear each other and live', async () => {
    const world = await World.of('ab')
    world.rejoins = true
    world.cuts.add('a,b')
    await world.pass(300_000)
    // Each of them once.
    expect(world.removed.length).toBeLessThanOrEqual(2)
  })

  it('of a process that has another address now', async () => {
    const world = await World.of('abc')
    world.get('b').url = 'moved'
    await world.pass(1_900)
    const before = world.removed.length
    await world.pass(60_000)
    expect(world.removed.length).toBe(before)
  })

  it('without calls in a loop, of a process that answers at once', async () => {
    const world = await World.of('ab')
    world.get('b').isLeaving = true
    const before = world.calls
    await world.pass(10_000)
    expect(world.calls - before).toBeLessThan(200)
  })

  it('of a process that says that it leaves', async () => {
    const world = await World.of('abc')
    world.get('b').isLeaving = true
    await world.pass(700)
    world.get('b').condition = 'refused'
    await world.pass(60_000)
    expect(world.whom).toEqual([])
  })

  it('by a process that leaves', async () => {
    const world = await World.of('ab')
    world.get('a').isLeaving = true
    world.get('b').condition = 'refused'
    await world.pass(60_000)
    expect(world.whom).toEqual([])
  })

  it('of a member that has joined again since it was watched', async () => {
    const world = await World.of('ab')
    // Between two looks at the group.
    await world.pass(500)
    world.get('b').memberId = 'b-2'
    world.get('b').condition = 'refused'
    await world.pass(700)
    expect(world.whom).toEqual([])
  })

  it('of one instance twice in 30 s', async () => {
    const world = await World.of('ab')
    for (let second = 0; second < 90; second += 3) {
      world.get('b').condition = 'silent'
      await world.pass(3_000)
      if (world.get('b').memberId === '') world.get('b').memberId = `b-${second}`
      world.get('b').condition = 'up'
      await world.pass(3_000)
    }
    const times = world.removed.map(({ atMs }) => atMs)
    expect(times.length).toBeGreaterThan(1)
    for (const [place, atMs] of times.entries())
      if (place > 0) expect(atMs - (times[place - 1] ?? 0)).toBeGreaterThanOrEqual(30_000)
  })

  it('of a process that answers all others but one, whichever cuts there are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.constantFrom('a,b', 'c,d', 'e,f'), { minLength: 1 }), async (cuts) => {
        const world = await World.of('abcdef')
        for (const cut of cuts) world.cuts.add(cut)
        await world.pass(30_000)
        expect(world.whom).toEqual([])
      }),
      { numRuns: 10 },
    )
  })
})
