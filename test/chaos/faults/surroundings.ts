/** Faults of what owners depend on: the registry, the clock, the disks. */

import { existsSync } from 'node:fs'
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onceAt, sendJobs } from '../load/definitions.ts'
import type { Place } from '../places.ts'
import { last, type Stage } from '../stage.ts'
import type { Program, ProgramPlan } from '../system/program.ts'
import { clockAheadMs, proven } from './effects.ts'
import type { Fault } from './fault.ts'
import { anyOwner } from './owners.ts'

export const registryDown: Fault = {
  name: 'registry-down',
  what: 'the registry is killed for 40 s; meanwhile a scheduler is stopped by SIGTERM and started again',
  async run(stage) {
    await stage.registry.kill()
    const owner = stage.system.schedulers[anyOwner(stage)]
    await owner.terminate()
    const started = owner.start()
    // The program may end and start again, as under a supervisor.
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

/** The wall clock of an owner steps for 30 s. Its steady clock continues, as when somebody sets the time. */
function clockFault(name: string, hours: number): Fault {
  return {
    name,
    what: `the wall clock of an owner steps by ${hours} h for 30 s, and back`,
    missing: () => (fakeTime === undefined ? 'libfaketime is not installed' : undefined),
    async run(stage) {
      const place = anyOwner(stage)
      const owner = stage.system.schedulers[place]
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
      // The measurement begins here.
      await stage.begin()
      await writeFile(file, `${hours > 0 ? '+' : '-'}${Math.abs(hours)}h\n`)
      const isOff = async (): Promise<boolean> => Math.abs((await clockAheadMs(stage, place)) - hours * 3_600_000) < 60_000
      await proven(stage, `the clock of ${owner.title} did not step`, 10_000, isOff)
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

const fillBytes = 1024 * 1024
const isFull = /No space left on device|ENOSPC/
/** Definitions for stores whose disk is full. They must use up the space that stores have reserved for their logs. */
const heavy = { count: 40, bytes: 100_000, limitMs: 120_000 }
const yearMs = 365 * 86_400_000

/** Fills the disk of a folder to its last block. Resolves with the file that fills it. */
async function fill(folder: string): Promise<string> {
  const file = join(folder, 'filler')
  const handle = await open(file, 'a')
  try {
    for (const size of [fillBytes, 4_096]) await appendUntilFull(handle, Buffer.alloc(size, 1))
  } finally {
    await handle.close()
  }
  return file
}

async function appendUntilFull(handle: FileHandle, bytes: Buffer): Promise<void> {
  try {
    for (;;) await handle.appendFile(bytes)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

const noDisk = (stage: Stage, place: Place): string | undefined =>
  stage.disks.has(place)
    ? undefined
    : 'there is no small disk to fill: that takes the right to mount one, in namespaces of our own'

/** Keeps the disk of a place full for `ms` after its program has noticed. A program that ended because of it is started again. */
async function fullFor(stage: Stage, program: Program, ms: number, use: () => Promise<void>): Promise<void> {
  const folder = stage.disks.get(program.place) ?? program.folder
  const hasMet = async (): Promise<boolean> => !program.running || (await program.says(isFull))
  let filler = await fill(folder)
  try {
    await proven(stage, `${program.title} has not met its full disk`, heavy.limitMs, async () => {
      // A program that closes a file frees space.
      filler = await fill(folder)
      await use()
      return await hasMet()
    })
    stage.say(`${program.title} has met its full disk${program.running ? '' : ' and ended'}`)
    for (const until = Date.now() + ms; Date.now() < until; await last(stage, 1_000)) filler = await fill(folder)
  } finally {
    await rm(filler, { force: true })
    stage.say(`${program.title} ${program.running ? 'still runs' : 'has ended'}`)
    if (!program.running) await program.start()
  }
}

/** Defines jobs that are due in a year. */
async function defineHeavyJobs(stage: Stage): Promise<void> {
  const mark = Math.floor(stage.random() * 0xffffff).toString(16)
  const at = Date.now() + yearMs
  const payload = { text: 'x'.repeat(heavy.bytes) }
  const jobs = Array.from({ length: heavy.count }, (_, index) =>
    onceAt(`heavy-${mark}-${index}`, at, { handler: 'chaos-tick' }, { payload }),
  )
  await sendJobs(stage.place, jobs)
}

export const fullBrokerDisk: Fault = {
  name: 'broker-disk-full',
  what: 'the disk of a broker fills up; 30 s after it has met that there is room, and the broker is started again where it has ended',
  mayEnd: ['broker-3'],
  missing: (stage) => noDisk(stage, 'broker-3'),
  run: (stage) => fullFor(stage, stage.brokers['broker-3'], 30_000, async () => {}),
}

export const fullOwnerDisk: Fault = {
  name: 'owner-disk-full',
  what: 'the disk of the stores of an owner fills up, and heavy definitions come until it has met that; there is room 30 s later',
  mayEnd: ['scheduler-3'],
  missing: (stage) => noDisk(stage, 'scheduler-3'),
  run: (stage) => fullFor(stage, stage.system.schedulers['scheduler-3'], 30_000, () => defineHeavyJobs(stage)),
}
