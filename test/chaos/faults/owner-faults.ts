/** Faults of schedulers: killed, stopped, suspended, restarted, scaled. */
import { schedulerPlaces } from '../places.ts'
import { last, type Stage, untilOnTime } from '../stage.ts'
import { isSuspended, proven, untilShared } from './effects.ts'
import type { Fault } from './fault.ts'
import { anyOwner } from './owners.ts'

const settleMsMax = 240_000

/** Ends an owner and starts it again after `awayMs`. */
async function withoutOwner(stage: Stage, end: 'kill' | 'terminate', awayMs: number): Promise<void> {
  const owner = stage.system.schedulers[anyOwner(stage)]
  stage.say(`${end === 'kill' ? 'kill −9' : 'SIGTERM'} of ${owner.title}`)
  await owner[end]()
  await last(stage, awayMs)
  await owner.start()
}

export const killOwner: Fault = {
  name: 'kill-owner',
  what: 'kill −9 of an owner that has standbys; it is started again after 15 s',
  goal: { words: 'longest lateness ≤ 2 s', longestMs: 2_000 },
  run: (stage) => withoutOwner(stage, 'kill', 15_000),
}

export const termOwner: Fault = {
  name: 'term-owner',
  what: 'SIGTERM of an owner; it is started again when it has ended',
  goal: { words: 'longest lateness ≤ 0.5 s', longestMs: 500 },
  run: (stage) => withoutOwner(stage, 'terminate', 10_000),
}

export const rollingSchedulers: Fault = {
  name: 'rolling-schedulers',
  what: 'each scheduler in turn: SIGTERM, start, until all have equal shares and fire on time',
  goal: { words: 'longest lateness ≤ 1 s', longestMs: 1_000 },
  async run(stage) {
    for (const place of schedulerPlaces) {
      const scheduler = stage.system.schedulers[place]
      await scheduler.terminate()
      await scheduler.start()
      const trouble = (await untilShared(stage, settleMsMax)) ?? (await untilOnTime(stage, settleMsMax))
      if (trouble !== undefined) throw new Error(trouble)
    }
  },
}

export const scale: Fault = {
  name: 'scale',
  what: '3 → 1 → 3 schedulers by SIGTERM and start, the one alone for 20 s',
  goal: { words: 'longest lateness ≤ 1 s', longestMs: 1_000 },
  async run(stage) {
    const [, ...others] = schedulerPlaces.map((place) => stage.system.schedulers[place])
    await Promise.all(others.map((scheduler) => scheduler.terminate()))
    await last(stage, 20_000)
    await Promise.all(others.map((scheduler) => scheduler.start()))
  },
}

export const suspendOwner: Fault = {
  name: 'suspend-owner',
  what: 'SIGSTOP of an owner for 40 s, then SIGCONT',
  goal: { words: 'longest lateness ≤ 4 s', longestMs: 4_000 },
  async run(stage) {
    const owner = stage.system.schedulers[anyOwner(stage)]
    stage.say(`SIGSTOP of ${owner.title}`)
    await owner.signal('SIGSTOP')
    try {
      await proven(stage, 'it did not stand still', 5_000, () => isSuspended(owner))
      await last(stage, 40_000)
    } finally {
      await owner.signal('SIGCONT')
    }
  },
}

export const killLonelyOwner: Fault = {
  name: 'kill-owner-cold',
  what: 'kill −9 of the only scheduler, whose partitions nobody follows; it is started again at once',
  async run(stage) {
    const [only, ...others] = schedulerPlaces.map((place) => stage.system.schedulers[place])
    if (only === undefined) return
    await Promise.all(others.map((scheduler) => scheduler.terminate()))
    const trouble = await untilOnTime(stage, settleMsMax)
    if (trouble !== undefined) throw new Error(trouble)
    // The measurement begins here.
    await stage.begin()
    await only.kill()
    await only.start()
    await untilOnTime(stage, settleMsMax)
    await Promise.all(others.map((scheduler) => scheduler.start()))
  },
}
