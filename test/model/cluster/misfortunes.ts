/** What befalls logs, clocks, brokers and stores. What befalls processes and disks is in simulation.ts. */
import { ManualClock } from '../../tools/manual-clock.ts'
import { codecs, names } from '../world.ts'
import type { Chance } from './chance.ts'
import { jobIds } from './definitions.ts'
import type { Cluster, Process } from './process.ts'
import type { Switch } from './switches.ts'

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000]

export interface Suffering {
  cluster: Cluster
  /** A process that runs. */
  process: Process | undefined
  setClock(process: Process, byMs: number): void
}

/** How often each of them comes, and what it does. Those of one history are chosen by its seed. */
export const misfortunes: Partial<Record<Switch, { weight: number; befall(world: Suffering): void }>> = {
  /** A clock is wrong by hours, until it is set right. */
  clockSteps: { weight: 0.7, befall: stepClock },
  /** The tail of an input is lost. */
  truncation: { weight: 0.5, befall: truncate },
  /** A topic was deleted and made again. */
  recreation: { weight: 0.3, befall: recreate },
  /** Everything that is old enough goes. */
  retention: { weight: 1, befall: expire },
  /** A client leaves a transaction open. */
  openTransactions: { weight: 1, befall: leaveOpen },
  /** Commits take seconds. */
  slowCommits: { weight: 1, befall: slowDown },
  /** The schema registry does not answer. */
  registry: { weight: 1, befall: loseRegistry },
  /** Writes to stores fail. */
  stores: { weight: 0.7, befall: fillDisks },
  /** A disk refuses whatever is asked of it, until it is mended. */
  brokenDisks: { weight: 0.7, befall: breakDisk },
  /** More comes in than a mailbox holds, while commits are slow for some seconds. */
  floods: { weight: 0.7, befall: flood },
  /** For some seconds brokers have no room for what workers, forwarders and owners write without a transaction. */
  fullBrokers: { weight: 0.7, befall: fillBrokers },
  /** Somebody writes nonsense where only Duelog should write. */
  nonsense: { weight: 1, befall: writeNonsense },
}

/** All of that is over. */
export function endMisfortunes(cluster: Cluster): void {
  cluster.isFull = false
  cluster.slowMs = 0
  cluster.registryThere = true
  cluster.storeFailures = 0
  cluster.brokenDisks.clear()
  for (const end of cluster.openTransactions.splice(0)) end()
}

function slowDown({ cluster }: Suffering): void {
  cluster.slowMs = cluster.chance.pick([0, 0, 500, 3_000])
}

/** One value that all records of all floods share: they fill mailboxes, and not the memory of the test. */
const flooding = Buffer.alloc(800_000, 'x')
/** With records of that size this is twice what a mailbox holds. Each command takes a commit, a report that nobody can read takes none. */
const [floodCommands, floodEvents] = [6, 14]

function flood({ cluster }: Suffering): void {
  const { log, chance } = cluster
  const key = chance.pick(jobIds)
  const toFlood = [...Array(floodCommands).fill(names.commands), ...Array(floodEvents).fill(names.events)]
  log.append(toFlood.map((topic) => ({ topic, key, value: flooding, ofJob: true })))
  cluster.slowMs = chance.pick([300, 1_000, 2_000])
  later(cluster, () => {
    cluster.slowMs = 0
  })
}

function fillBrokers({ cluster }: Suffering): void {
  cluster.isFull = true
  later(cluster, () => {
    cluster.isFull = false
  })
}

/** It does not last, or nothing would come of what goes on meanwhile. */
function later({ time, chance }: Cluster, end: () => void): void {
  const clock = new ManualClock(time)
  clock.at(clock.nowMs() + chance.pick([1_000, 4_000, 10_000]), end)
}

function loseRegistry({ cluster }: Suffering): void {
  cluster.registryThere = !cluster.registryThere
}

function fillDisks({ cluster }: Suffering): void {
  cluster.storeFailures = cluster.storeFailures > 0 ? 0 : 0.03
}

/** Sometimes that of a second process, too: then there is nobody to let fire. */
function breakDisk({ cluster: { brokenDisks, chance }, process }: Suffering): void {
  if (brokenDisks.size > 0 && chance.happens(0.5)) brokenDisks.clear()
  else if (process !== undefined) brokenDisks.add(process.disk)
}

function stepClock({ cluster: { chance }, process, setClock }: Suffering): void {
  if (process !== undefined) setClock(process, hoursWrong(chance, process.machine.clock))
}

/** By how much a clock steps: far away, or back to where it should be. */
export function hoursWrong(chance: Chance, { skewMs }: { skewMs: number }): number {
  const wrong = Math.abs(skewMs) > 10 * minuteMs
  return wrong ? -skewMs : chance.pick([1, -1]) * chance.pick([15 * minuteMs, 3 * hourMs, 26 * hourMs, 50 * hourMs])
}

/** Where the program does without the records, as it promises: what is acknowledged in `jobs` and `job-state` is not in question. */
const inputs = (cluster: Cluster) =>
  [names.commands, names.events, names.executions('default', 'NORMAL'), names.retry('1s')].flatMap((topic) =>
    cluster.log.allOf(topic).filter((place) => place.topic === topic && place.log.stableEnd === place.log.next),
  )

function truncate({ cluster }: Suffering): void {
  const places = inputs(cluster).filter(({ log }) => log.entries.length > 1)
  if (places.length === 0) return
  const { topic, partition, log } = cluster.chance.pick(places)
  cluster.log.truncate(log, Math.max(log.earliest, log.next - cluster.chance.int(1, 6)))
  for (const group of cluster.groups) group.moved(topic, partition)
}

function recreate({ cluster }: Suffering): void {
  const places = inputs(cluster).filter(({ log }) => log.entries.length > 0)
  if (places.length === 0) return
  const { topic, partition, log } = cluster.chance.pick(places)
  cluster.log.recreate(log)
  for (const group of cluster.groups) group.moved(topic, partition)
}

/** As the topics of docs/TOPICS.md are kept. */
function expire({ cluster: { log, time } }: Suffering): void {
  for (const topic of [
    names.commands,
    names.events,
    names.executions('default', 'NORMAL').replace('.normal', ''),
    'model.retry.',
  ])
    for (const place of log.allOf(topic)) log.expire(place.log, time.nowMs - 7 * dayMs)
  for (const place of log.allOf(names.control)) log.expire(place.log, time.nowMs - hourMs)
}

function leaveOpen({ cluster }: Suffering): void {
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

function writeNonsense({ cluster: { log, chance } }: Suffering): void {
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
