/** Failures of logs, clocks, brokers and stores. Failures of processes and disks are in simulation.ts. */

import type { Chance } from '../../../src/testing/simulation/chance.ts'
import { ManualClock } from '../../tools/manual-clock.ts'
import { codecs, names } from '../world.ts'
import { jobIds } from './definitions.ts'
import type { Cluster, Process } from './process.ts'
import type { Switch } from './switches.ts'

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000]

export interface FaultyWorld {
  cluster: Cluster
  /** A process that runs. */
  process: Process | undefined
  setClock(process: Process, byMs: number): void
}

/** The weight of each failure, and its function. The seed of a history chooses its failures. */
export const faults: Partial<Record<Switch, { weight: number; begin(world: FaultyWorld): void }>> = {
  /** A clock is wrong by hours, until it is corrected. */
  clockSteps: { weight: 0.7, begin: stepClock },
  /** The tail of an input is lost. */
  truncation: { weight: 0.5, begin: truncate },
  /** A topic was deleted and created again. */
  recreation: { weight: 0.3, begin: recreate },
  /** Retention deletes everything that is old enough. */
  retention: { weight: 1, begin: expire },
  /** A client leaves a transaction open. */
  openTransactions: { weight: 1, begin: leaveOpen },
  /** Commits take seconds. */
  slowCommits: { weight: 1, begin: slowDown },
  /** The schema registry does not answer. */
  registry: { weight: 1, begin: loseRegistry },
  /** Writes to stores fail. */
  stores: { weight: 0.7, begin: fillDisks },
  /** A disk fails every operation until it is repaired. */
  brokenDisks: { weight: 0.7, begin: breakDisk },
  /** More records arrive than an input buffer holds, while commits are slow for some seconds. */
  floods: { weight: 0.7, begin: flood },
  /** For some seconds brokers have no room for the non-transactional writes of workers, forwarders and owners. */
  fullBrokers: { weight: 0.7, begin: fillBrokers },
  /** A user writes unreadable values to topics that only Duelog may write to. */
  nonsense: { weight: 1, begin: writeNonsense },
}

/** Ends all these failures. */
export function endFaults(cluster: Cluster): void {
  cluster.isFull = false
  cluster.slowMs = 0
  cluster.slowCommitsMs = undefined
  cluster.registryThere = true
  cluster.storeFailures = 0
  cluster.brokenDisks.clear()
  for (const end of cluster.openTransactions.splice(0)) end()
}

function slowDown({ cluster }: FaultyWorld): void {
  cluster.slowMs = cluster.chance.pick([0, 0, 500, 3_000])
}

/** All records of all floods share one value: they fill input buffers, and not the memory of the test. */
const flooding = Buffer.alloc(800_000, 'x')
/**
 * With records of that size, this is twice what an input buffer holds. Each command takes a commit. A report that nobody can read
 * takes none.
 */
const [floodCommands, floodEvents] = [6, 14]

function flood({ cluster }: FaultyWorld): void {
  const { log, chance } = cluster
  const key = chance.pick(jobIds)
  const toFlood = [...Array(floodCommands).fill(names.commands), ...Array(floodEvents).fill(names.events)]
  log.append(toFlood.map((topic) => ({ topic, key, value: flooding, ofJob: true })))
  cluster.slowMs = chance.pick([300, 1_000, 2_000])
  later(cluster, () => {
    cluster.slowMs = 0
  })
}

function fillBrokers({ cluster }: FaultyWorld): void {
  cluster.isFull = true
  later(cluster, () => {
    cluster.isFull = false
  })
}

/** The failure ends after a while. Otherwise its effects would never be tested. */
function later({ time, chance }: Cluster, end: () => void): void {
  const clock = new ManualClock(time)
  clock.at(clock.nowMs() + chance.pick([1_000, 4_000, 10_000]), end)
}

function loseRegistry({ cluster }: FaultyWorld): void {
  cluster.registryThere = !cluster.registryThere
}

function fillDisks({ cluster }: FaultyWorld): void {
  cluster.storeFailures = cluster.storeFailures > 0 ? 0 : 0.03
}

/** Sometimes the disk of a second process fails too. Then no process can fire. */
function breakDisk({ cluster: { brokenDisks, chance }, process }: FaultyWorld): void {
  if (brokenDisks.size > 0 && chance.happens(0.5)) brokenDisks.clear()
  else if (process !== undefined) brokenDisks.add(process.disk)
}

function stepClock({ cluster: { chance }, process, setClock }: FaultyWorld): void {
  if (process !== undefined) setClock(process, hoursWrong(chance, process.machine.clock))
}

/** The size of a clock step: far away, or back to the right time. */
export function hoursWrong(chance: Chance, { skewMs }: { skewMs: number }): number {
  const wrong = Math.abs(skewMs) > 10 * minuteMs
  return wrong ? -skewMs : chance.pick([1, -1]) * chance.pick([15 * minuteMs, 3 * hourMs, 26 * hourMs, 50 * hourMs])
}

/**
 * The topics whose records may be lost, as the program promises. Acknowledged records in `jobs` and `job-state` are never lost.
 */
const inputs = (cluster: Cluster) =>
  [names.commands, names.events, names.executions('default', 'NORMAL'), names.retry('1s')].flatMap((topic) =>
    cluster.log.allOf(topic).filter((place) => place.topic === topic && place.log.stableEnd === place.log.next),
  )

function truncate({ cluster }: FaultyWorld): void {
  const places = inputs(cluster).filter(({ log }) => log.entries.length > 1)
  if (places.length === 0) return
  const { topic, partition, log } = cluster.chance.pick(places)
  cluster.log.truncate(log, Math.max(log.earliest, log.next - cluster.chance.int(1, 6)))
  for (const group of cluster.groups) group.moved(topic, partition)
}

function recreate({ cluster }: FaultyWorld): void {
  const places = inputs(cluster).filter(({ log }) => log.entries.length > 0)
  if (places.length === 0) return
  const { topic, partition, log } = cluster.chance.pick(places)
  cluster.log.recreate(log)
  for (const group of cluster.groups) group.moved(topic, partition)
}

/** Applies the retention of docs/TOPICS.md. */
function expire({ cluster: { log, time } }: FaultyWorld): void {
  for (const topic of [
    names.commands,
    names.events,
    names.executions('default', 'NORMAL').replace('.normal', ''),
    'model.retry.',
  ])
    for (const place of log.allOf(topic)) log.expire(place.log, time.nowMs - 7 * dayMs)
  for (const place of log.allOf(names.control)) log.expire(place.log, time.nowMs - hourMs)
}

function leaveOpen({ cluster }: FaultyWorld): void {
  const { log, chance, openTransactions } = cluster
  const topic = chance.pick([names.jobs, names.commands, names.events])
  const id = `foreign-${openTransactions.length}-${log.at(topic, 0).next}`
  const epoch = log.fence(id)
  const headers = { 'duelog-mark': 'foreign' }
  const transaction = log.begin(id, epoch, chance.pick([minuteMs, 15 * minuteMs]))
  log.append([{ topic, partition: chance.int(0, log.partitions - 1), key: '\u0001', value: null, headers }], transaction)
  openTransactions.push(() => {
    if (transaction.state === 'open') log.commit(id, epoch)
  })
  if (openTransactions.length > 2 && chance.happens(0.7)) openTransactions.shift()?.()
}

function writeNonsense({ cluster: { log, chance } }: FaultyWorld): void {
  const lanes = [
    names.executions('default', 'NORMAL'),
    names.retry('1s'),
    names.retry('5s'),
    names.control,
    names.events,
    names.commands,
  ]
  const execution = { jobId: 'a', runNo: 1, attempt: 1, specOffset: 0 }
  const report = codecs.event.encode({
    ...execution,
    type: 'SUCCEEDED',
    at: 0,
    result: Buffer.alloc(chance.pick([1, 70_000, 900_000])),
  })
  const value = chance.pick([
    null,
    Buffer.alloc(0),
    Buffer.from('nonsense'),
    Buffer.of(0, 0, 0, 0, 9, 1),
    Buffer.from([0, 0, 0, 0, 5, 255, 255]),
    report,
  ])
  log.append([
    {
      topic: chance.pick(lanes),
      partition: chance.int(0, log.partitions - 1),
      key: chance.pick([null, '', 'a', 'x\u0000']),
      value,
    },
  ])
}
