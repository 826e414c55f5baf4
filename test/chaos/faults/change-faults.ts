/**
 * Faults of constant change: owners killed at random moments, members that join and leave, and another version of the program.
 */
import { join } from 'node:path'
import { schedulerPlaces } from '../places.ts'
import { last, type Stage, untilOnTime } from '../stage.ts'
import { ownCode, programsOf } from '../system/duelog.ts'
import type { Program } from '../system/program.ts'
import type { Fault } from './fault.ts'
import { anyOwner } from './owners.ts'

const settleMsMax = 240_000
const stormMs = 90_000

export const killLoop: Fault = {
  name: 'kill-loop',
  what: 'for 90 s kill −9 of an owner at random moments; each is started again at once',
  async run(stage) {
    const until = Date.now() + stormMs
    while (Date.now() < until) {
      const owner = stage.system.schedulers[anyOwner(stage)]
      await owner.kill()
      await owner.start()
      await last(stage, 500 + stage.random() * 5_000)
    }
  },
}

export const rebalanceStorm: Fault = {
  name: 'rebalance-storm',
  what: 'for 90 s two of three schedulers end and begin again without a pause, each in its own rhythm',
  async run(stage) {
    const until = Date.now() + stormMs
    const [, ...others] = schedulerPlaces.map((place) => stage.system.schedulers[place])
    await Promise.all(
      others.map(async (scheduler) => {
        while (Date.now() < until) {
          await scheduler.terminate()
          await scheduler.start()
          await last(stage, stage.random() * 2_000)
        }
      }),
    )
  },
}

/** Restarts the program with the code of another version and the same data. */
async function become(stage: Stage, program: Program, code: string): Promise<void> {
  await program.terminate()
  program.change((plan) => ({ ...plan, args: [join(code, 'src/program/cli/duelog.ts'), 'up'] }))
  await program.start()
  await untilOnTime(stage, settleMsMax)
}

export const upgrade: Fault = {
  name: 'upgrade',
  what: 'each process in turn becomes the former version (--former), then each in turn this one again: rolling, both ways, mixed in between',
  goal: { words: 'longest lateness ≤ 1 s', longestMs: 1_000 },
  missing: (stage) => (stage.former === undefined ? 'no former version was named: --former takes a commit or tag' : undefined),
  async run(stage) {
    for (const code of [stage.former, ownCode])
      if (code !== undefined) for (const program of programsOf(stage.system)) await become(stage, program, code)
  },
}
