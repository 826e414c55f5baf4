/** Two schedulers, each the standby of the other's partitions. Owners die, freeze and come back, and the standbys continue. */
import { expect, test } from 'vitest'
import { connectLog } from '../../src/log/kafka/log.ts'
import { rocksStores } from '../../src/log/store/rocks-store.ts'
import { checkpointKey } from '../../src/scheduler/state/checkpoint.ts'
import { clean } from '../tools/checker-audit.ts'
import type { DuelogProcess } from '../tools/duelog-process.ts'
import type { SchedulerReport } from '../tools/duelog-process-plan.ts'
import { brokers, oneShots, openSite, recurring } from './harness.ts'
import { Load } from './load.ts'
import { chance, printedSeed } from './seeded.ts'
import { openWorker } from './worker.ts'

const partitions = 4
const dayMs = 86_400_000
const numbersOf = (phase: string, { partitions: found }: SchedulerReport): number[] =>
  found.flatMap((each) => (each.phase === phase ? [each.partition] : []))
const owns = (report: SchedulerReport): number[] => numbersOf('active', report)
const follows = (report: SchedulerReport): number[] => numbersOf('following', report)
const all = (report: SchedulerReport): boolean => owns(report).length === partitions
const paired = (report: SchedulerReport): boolean => owns(report).length === 2 && follows(report).length === 2

/** Waits until each owns half and follows the other half at the same moment. Resolves with the partitions of the first. */
async function pairOf(one: DuelogProcess, other: DuelogProcess): Promise<number[]> {
  let owned: number[] = []
  const together = async (): Promise<number[]> => {
    const reports = await Promise.all([one.reportThat(paired), other.reportThat(paired)])
    owned = reports.flatMap(owns).slice(0, 2)
    return reports.flatMap(owns).sort()
  }
  await expect.poll(together, { timeout: 90_000 }).toEqual([0, 1, 2, 3])
  return owned
}

/**
 * The records of changelog and definitions that the process read for these partitions until it fired, from its message number
 * `from` on.
 */
function readFor({ messages }: DuelogProcess, numbers: number[], from: number): number[] {
  const lines = messages.slice(from).flatMap((message) => (message.kind === 'log' ? [message.message] : []))
  return numbers.map((number) => {
    const found = lines.map((line) => new RegExp(`^Partition ${number} is active; (\\d+) record`).exec(line)?.[1])
    return Number(found.findLast((read) => read !== undefined) ?? Number.NaN)
  })
}

/** Checks that the process had followed these partitions, and read little more than what was missing when it took over. */
async function tookOver(
  successor: DuelogProcess,
  numbers: number[],
  from: number,
  [jobs = [], state = []]: number[][],
): Promise<void> {
  for (const number of numbers)
    await successor.next('log', ({ message }) => message === `The standby of partition ${number} takes over.`, from)
  for (const [place, read] of readFor(successor, numbers, from).entries()) {
    const number = numbers[place] ?? 0
    expect(read).toBeLessThan(((jobs[number] ?? 0) + (state[number] ?? 0)) / 2)
  }
}

test('the first owner fires until a second that joins is warm, which then takes half of the partitions over from the tail of the logs', async (context) => {
  const site = await openSite(context, { partitions })
  await openWorker(context, site)
  await site.write(oneShots('far', 3_000, Date.now() + dayMs, 1_000))
  const load = new Load(site, 40, chance(printedSeed()))
  const first = await site.scheduler({ folder: `${site.plan.folder}-a`, standbys: 1 })
  await first.reportThat(all)
  const second = await site.scheduler({ folder: `${site.plan.folder}-b`, standbys: 1 })
  // It owns nothing at first. Its half is awaited until its copy is warm.
  const joined = await second.next('log', ({ message }) => message.startsWith('Assigned '), 0)
  expect(joined.message).toMatch(/^Assigned 0 partitions, and 4 to follow; 2 of these are awaited\.$/)
  for (const number of await pairOf(second, first))
    await second.next('log', ({ message }) => message === `The standby of partition ${number} takes over.`, 0)
  await load.stop()
  await site.checker.succeeded(load.expected)
  await Promise.all([first.stop(), second.stop()])
  expect(await site.checker.audit(load.expected)).toEqual(clean)
})

async function endsOf(topics: string[]): Promise<number[][]> {
  const admin = await connectLog({ brokers, clientId: 'faults' }).admin()
  const ends = await Promise.all(topics.map((topic) => admin.offsets(topic)))
  await admin.close()
  return ends.map((each) => each.sort((a, b) => a.partition - b.partition).map(({ next }) => next))
}

test('a standby takes over from the tail alone, whether the owner dies or is suspended; nothing is lost or doubled', {
  timeout: 240_000,
}, async (context) => {
  const site = await openSite(context, { partitions })
  await openWorker(context, site)
  // The records that a restore would have to read.
  await site.write(oneShots('far', 3_000, Date.now() + dayMs, 1_000))
  const load = new Load(site, 80, chance(printedSeed()))
  const start = (machine: string) => site.scheduler({ folder: `${site.plan.folder}-${machine}`, standbys: 1 })
  const machines = ['a', 'b'] as const
  const processes = { a: await start('a'), b: await start('b') }
  for (const [index, lost] of machines.entries()) {
    const [victim, successor] = [processes[lost], processes[machines[1 - index] ?? 'b']]
    const owned = await pairOf(victim, successor)
    const logged = await endsOf([site.names.jobs, site.names.state])
    const said = successor.messages.length
    await victim.kill()
    await successor.reportThat(all)
    await tookOver(successor, owned, said, logged)
    await site.checker.dispatched([...load.expected])
    processes[lost] = await start(lost)
  }
  // The roles have swapped twice. One of the processes becomes a zombie for a while.
  const owned = await pairOf(processes.a, processes.b)
  const logged = await endsOf([site.names.jobs, site.names.state])
  const said = processes.b.messages.length
  processes.a.signal('SIGSTOP')
  await processes.b.reportThat(all)
  await tookOver(processes.b, owned, said, logged)
  await site.checker.dispatched([...load.expected])
  processes.a.signal('SIGCONT')
  await pairOf(processes.a, processes.b)
  await load.stop()
  await site.checker.succeeded(load.expected)
  await Promise.all([processes.a.stop(), processes.b.stop()])
  expect(await site.checker.audit(load.expected)).toEqual(clean)
})

test('the store of a standby equals that of the owner, byte for byte', async (context) => {
  const site = await openSite(context, { partitions })
  await openWorker(context, site)
  const folders = ['a', 'b'].map((machine) => `${site.plan.folder}-${machine}`)
  const [one, other] = (await Promise.all(folders.map((folder) => site.scheduler({ folder, standbys: 1 })))) as [
    DuelogProcess,
    DuelogProcess,
  ]
  await pairOf(one, other)
  const shots = oneShots('shot', 200, Date.now() + 500, 5)
  const repeats = recurring('again', 8, Date.now() + 500, 150, 12)
  const paused = { id: 'paused', schedule: { everyMs: dayMs }, target: { handler: 'noop' }, paused: true, tags: ['some', 'tags'] }
  const expected = await site.write(shots, repeats, oneShots('far', 400, Date.now() + dayMs, 1_000))
  await site.client.scheduleMany([paused])
  await site.checker.succeeded(expected.filter(({ jobId }) => !jobId.startsWith('far')))
  for (let number = 0; number < 200; number++) await site.client.delete(`far-${number}`)
  // Quiet: nothing was written since the last check, and no process lacks a record.
  const { jobs, state, commands, events } = site.names
  let last = ''
  const quiet = async (): Promise<boolean> => {
    const reports = await Promise.all([one.reportThat(paired), other.reportThat(paired)])
    const ends = JSON.stringify(await endsOf([jobs, state, commands, events]))
    const level = reports.every((report) => report.partitions.every(({ behindRecords }) => behindRecords === 0))
    const same = ends === last
    last = ends
    return same && level
  }
  await expect.poll(quiet, { timeout: 60_000, interval: 1_500 }).toBe(true)
  for (const each of [one, other]) each.signal('SIGSTOP')
  for (const each of [one, other]) await each.kill()
  for (let partition = 0; partition < partitions; partition++) {
    const [left = [], right = []] = await Promise.all(folders.map((folder) => contentOf(folder, partition)))
    expect(left.length).toBeGreaterThan(100)
    expect(right).toEqual(left)
  }
})

/** The content without the checkpoint of this store and the links of its own chain. */
async function contentOf(folder: string, partition: number): Promise<string[]> {
  const { store } = await rocksStores(folder).open(partition)
  const entries = await store.scan({ from: Buffer.of(0), to: Buffer.of(255), limit: 1_000_000 })
  await store.close()
  const kept = entries.filter(({ key }) => key[0] !== 0x4c && !key.equals(checkpointKey))
  return kept.map(({ key, value }) => `${key.toString('latin1')} ${value.toString('hex')}`)
}
