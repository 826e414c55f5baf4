/** Faults of brokers: kills, restarts, two at once, and a restart before the controllers notice the absence. */
import { controllerLeader, groupCoordinator } from '../cluster/questions.ts'
import { brokerPlaces } from '../places.ts'
import { last, untilOnTime } from '../stage.ts'
import { schedulerGroup } from '../system/duelog.ts'
import type { Fault } from './fault.ts'

const settleMsMax = 240_000
const words = 'longest lateness ≤ 10 s (what librdkafka needs to write again: 9 to 10 s)'

export const killCoordinator: Fault = {
  name: 'kill-coordinator',
  what: "kill −9 of the broker that coordinates the schedulers' group; it is started again after 20 s",
  goal: { words, longestMs: 10_000 },
  async run(stage) {
    const place = await groupCoordinator(stage.network, schedulerGroup)
    stage.say(`kill −9 of ${place}, the coordinator`)
    await stage.brokers[place].kill()
    await last(stage, 20_000)
    await stage.brokers[place].start()
  },
}

export const killController: Fault = {
  name: 'kill-controller',
  what: 'kill −9 of the broker whose controller leads; it is started again after 20 s',
  goal: { words, longestMs: 10_000 },
  async run(stage) {
    const place = await controllerLeader(stage.network)
    const coordinator = await groupCoordinator(stage.network, schedulerGroup)
    stage.say(`kill −9 of ${place}, the controller${place === coordinator ? ' and coordinator' : ''}`)
    await stage.brokers[place].kill()
    await last(stage, 20_000)
    await stage.brokers[place].start()
  },
}

export const rollingBrokers: Fault = {
  name: 'rolling-brokers',
  what: 'each broker in turn: SIGTERM, start, until all fire on time',
  goal: { words: 'longest lateness ≤ 3 s', longestMs: 3_000 },
  async run(stage) {
    for (const place of brokerPlaces) {
      await stage.brokers[place].terminate()
      await stage.brokers[place].start()
      await untilOnTime(stage, settleMsMax)
    }
  },
}

export const twoBrokersDown: Fault = {
  name: 'two-brokers-down',
  what: 'kill −9 of two of three brokers, which are started again after 30 s',
  goal: { words: 'on time ≤ 5 s after they are back', afterMs: 5_000 },
  async run(stage) {
    const left = brokerPlaces[Math.floor(stage.random() * brokerPlaces.length)]
    const gone = brokerPlaces.filter((place) => place !== left)
    await Promise.all(gone.map((place) => stage.brokers[place].kill()))
    await last(stage, 30_000)
    await Promise.all(gone.map((place) => stage.brokers[place].start()))
  },
}

const standMs = 400

/**
 * A transaction coordinator may have logged in this time what no other broker has. It starts before the controllers have fenced
 * it and still believes that it is the leader. It tells other brokers that these transactions are committed, and then loses them
 * (ADR 0070).
 */
export const brokerBackAtOnce: Fault = {
  name: 'broker-back-at-once',
  what: 'two of three brokers stand still for 0.4 s; meanwhile kill −9 of the third, which is started again at once; each of them in turn',
  async run(stage) {
    for (const killed of brokerPlaces) {
      const others = brokerPlaces.filter((place) => place !== killed)
      try {
        for (const place of others) await stage.brokers[place].signal('SIGSTOP')
        await last(stage, standMs)
        await stage.brokers[killed].kill()
      } finally {
        for (const place of others) await stage.brokers[place].signal('SIGCONT')
      }
      await stage.brokers[killed].start()
      await untilOnTime(stage, settleMsMax)
    }
  },
}
