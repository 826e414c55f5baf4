/** Faults of the network: a broker becomes silent, an owner is cut off. Nothing is refused or closed; packets are dropped. */
import { groupCoordinator } from '../cluster/questions.ts'
import { cutOff } from '../network/network.ts'
import { brokerPlaces, othersThan, type Place, workerPlaces } from '../places.ts'
import { last, type Stage } from '../stage.ts'
import { schedulerGroup } from '../system/duelog.ts'
import type { Fault } from './fault.ts'
import { anyOwner } from './owners.ts'

const cutFor = (stage: Stage, place: Place, others: readonly Place[], ms: number): Promise<void> =>
  whileCut(stage, () => cutOff(stage.network, place, others), ms)

async function whileCut(stage: Stage, cut: () => Promise<void>, ms: number): Promise<void> {
  await cut()
  try {
    await last(stage, ms)
    const leak = await stage.network.leak()
    if (leak !== undefined) throw new Error(`the cut was none: ${leak}`)
  } finally {
    await stage.network.heal()
  }
}

const silentCoordinatorFor = (name: string, ms: number): Fault => ({
  name,
  what: `the broker that coordinates the schedulers' group is cut off from everything for ${ms / 1000} s`,
  goal: { words: 'longest lateness ≤ 20 s', longestMs: 20_000 },
  async run(stage) {
    const place = await groupCoordinator(stage.network, schedulerGroup)
    stage.say(`${place}, the coordinator, falls silent`)
    await cutFor(stage, place, othersThan(place), ms)
  },
})

export const silentCoordinator = silentCoordinatorFor('silent-coordinator', 40_000)
export const longSilentCoordinator = silentCoordinatorFor('silent-coordinator-long', 100_000)

export const silentBroker: Fault = {
  name: 'silent-broker',
  what: 'a broker that does not coordinate the group is cut off from everything for 40 s',
  goal: { words: 'longest lateness ≤ 20 s', longestMs: 20_000 },
  async run(stage) {
    const coordinator = await groupCoordinator(stage.network, schedulerGroup)
    const others = brokerPlaces.filter((place) => place !== coordinator)
    const place = others[Math.floor(stage.random() * others.length)] as Place
    stage.say(`${place} falls silent`)
    await cutFor(stage, place, othersThan(place), 40_000)
  },
}

export const cutOffOwner: Fault = {
  name: 'cut-owner',
  what: 'an owner is cut off from all brokers for 40 s',
  goal: { words: 'longest lateness ≤ 6 s (noticed after 3 s)', longestMs: 6_000 },
  async run(stage) {
    const owner = anyOwner(stage)
    stage.say(`${owner} is cut off from all brokers`)
    await cutFor(stage, owner, brokerPlaces, 40_000)
  },
}

export const halfCutOwner: Fault = {
  name: 'cut-owner-one-broker',
  what: 'an owner is cut off from one broker for 40 s',
  goal: { words: 'longest lateness ≤ 20 s', longestMs: 20_000 },
  async run(stage) {
    const owner = anyOwner(stage)
    const broker = brokerPlaces[Math.floor(stage.random() * brokerPlaces.length)] as Place
    stage.say(`${owner} is cut off from ${broker}`)
    await cutFor(stage, owner, [broker], 40_000)
  },
}

export const halfCutWorker: Fault = {
  name: 'cut-worker-one-broker',
  what: 'a worker is cut off from one broker for 40 s',
  async run(stage) {
    const worker = workerPlaces[Math.floor(stage.random() * workerPlaces.length)] as Place
    const broker = brokerPlaces[Math.floor(stage.random() * brokerPlaces.length)] as Place
    stage.say(`${worker} is cut off from ${broker}`)
    await cutFor(stage, worker, [broker], 40_000)
  },
}

export const oneWayOwner: Fault = {
  name: 'one-way-owner',
  what: 'what brokers answer does not reach an owner for 40 s, while its requests reach them',
  goal: { words: 'longest lateness ≤ 6 s (noticed after 3 s)', longestMs: 6_000 },
  async run(stage) {
    const owner = anyOwner(stage)
    stage.say(`answers do not reach ${owner}`)
    const cut = async (): Promise<void> => {
      for (const broker of brokerPlaces) await stage.network.cut(broker, owner)
    }
    await whileCut(stage, cut, 40_000)
  },
}
