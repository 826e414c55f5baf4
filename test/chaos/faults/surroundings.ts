/** What befalls what owners rely on: the registry, the clock, the disks. */

import { existsSync } from 'node:fs'
import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Place } from '../places.ts'
import { last, type Stage } from '../stage.ts'
import type { Program, ProgramPlan } from '../system/program.ts'
import type { Fault } from './fault.ts'
import { anyOwner } from './owners.ts'

export const registryGone: Fault = {
  name: 'registry-gone',
  what: 'the registry is killed for 40 s; meanwhile a scheduler is stopped by SIGTERM and started again',
  async run(stage) {
    await stage.registry.kill()
    const owner = stage.system.schedulers[anyOwner(stage)]
    await owner.terminate()
    const started = owner.start()
    // It may end and be started again, as by a supervisor.
    const early = await Promise.race([
      started.then(
        () => true,
        () => false,
      ),
      last(stage, 40_000).then(() => false),
    ])
    stage.say(early ? `${owner.title} started without the registry` : `${owner.title} did not start while the registry was away`)
    if (early) await last(stage, 40_000)
    await stage.registry.start()
    await started.catch(() => owner.start())
  },
}

const fakeTime = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib', '/usr/local/lib']
  .flatMap((folder) => [join(folder, 'faketime', 'libfaketime.so.1'), join(folder, 'libfaketime.so.1')])
  .find(existsSync)

/** An owner whose wall clock stepped for 30 s; its steady clock goes on, as it does where somebody sets the time. */
function clockFault(name: string, hours: number): Fault {
  return {
    name,
    what: `the wall clock of an owner steps by ${hours} h for 30 s, and back`,
    missing: () => (fakeTime === undefined ? 'libfaketime is not installed' : undefined),
    async run(stage) {
      const owner = stage.system.schedulers[anyOwner(stage)]
      const file = join(owner.folder, 'clock')
      await writeFile(file, '+0\n')
      const preload = (plan: ProgramPlan): ProgramPlan => ({
        ...plan,
        env: {
          ...plan.env,
          LD_PRELOAD: fakeTime,
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          DONT_FAKE_MONOTONIC: '1',
          FAKETIME_DONT_RESET: '1',
        },
      })
      await restartWith(owner, preload)
      await last(stage, 15_000)
      // What counts begins here.
      await stage.begin()
      await writeFile(file, `${hours > 0 ? '+' : '-'}${Math.abs(hours)}h\n`)
      await last(stage, 30_000)
      await writeFile(file, '+0\n')
      await last(stage, 15_000)
      const without = ({ env, ...plan }: ProgramPlan): ProgramPlan => {
        const { LD_PRELOAD: _, ...others } = env
        return { ...plan, env: others }
      }
      await restartWith(owner, without)
    },
  }
}

async function restartWith(program: Program, change: (plan: ProgramPlan) => ProgramPlan): Promise<void> {
  await program.terminate()
  program.change(change)
  await program.start()
}

export const clockBehind = clockFault('clock-behind', -1)
export const clockAhead = clockFault('clock-ahead', 1)

/** Fills the disk that a folder is on, but for a little; the file that fills it. */
async function fill(folder: string): Promise<string> {
  const { bavail, bsize } = await statfs(folder)
  const file = join(folder, 'filler')
  await writeFile(file, Buffer.alloc(Math.max(0, bavail * bsize), 1)).catch(() => {})
  return file
}

const noDisk = (stage: Stage, place: Place): string | undefined =>
  stage.disks.has(place)
    ? undefined
    : 'there is no small disk to fill: that takes the right to mount one, in namespaces of our own'

/** The disk of a place fills up for so long; who ended of it is started again. */
async function fullFor(stage: Stage, place: Place, program: Program, ms: number): Promise<void> {
  const filler = await fill(stage.disks.get(place) ?? program.folder)
  await last(stage, ms)
  await rm(filler, { force: true })
  stage.say(`${program.title} ${program.running ? 'still runs' : 'has ended'}`)
  if (!program.running) await program.start()
}

export const fullBrokerDisk: Fault = {
  name: 'broker-disk-full',
  what: 'the disk of a broker fills up; 30 s later there is room, and the broker is started again where it has ended',
  missing: (stage) => noDisk(stage, 'broker-3'),
  run: (stage) => fullFor(stage, 'broker-3', stage.brokers['broker-3'], 30_000),
}

export const fullOwnerDisk: Fault = {
  name: 'owner-disk-full',
  what: 'the disk of the stores of an owner fills up for 30 s',
  missing: (stage) => noDisk(stage, 'scheduler-3'),
  run: (stage) => fullFor(stage, 'scheduler-3', stage.system.schedulers['scheduler-3'], 30_000),
}
