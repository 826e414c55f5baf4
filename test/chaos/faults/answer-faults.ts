/** Faults in the answers of brokers: answers to the end of a transaction come so late that the client has given up. */
import { last } from '../stage.ts'
import type { ProgramPlan } from '../system/program.ts'
import type { Fault } from './fault.ts'
import { anyOwner } from './owners.ts'

const endTxn = 26
const share = 0.1
const longMs = 20_000

export const delayedCommits: Fault = {
  name: 'delayed-commits',
  what: 'for 60 s answers to an owner about the end of a transaction come late: up to 1 s, one in ten 20 s, after its limit',
  async run(stage) {
    const place = anyOwner(stage)
    const owner = stage.system.schedulers[place]
    const { KAFKA_BROKERS: before } = owner.env
    const by = (brokers: string | undefined) => (plan: ProgramPlan) => ({ ...plan, env: { ...plan.env, KAFKA_BROKERS: brokers } })
    await owner.terminate()
    owner.change(by(stage.network.relayed(place).join(',')))
    await owner.start()
    await last(stage, 10_000)
    // The measurement begins here.
    await stage.begin()
    let overdue = 0
    const late = (): number => {
      if (stage.random() >= share) return stage.random() * 1_000
      overdue++
      return longMs
    }
    stage.network.delay((apiKey) => (apiKey === endTxn ? late() : 0))
    try {
      await last(stage, 60_000)
    } finally {
      stage.network.delay(undefined)
    }
    await owner.terminate()
    owner.change(by(before))
    await owner.start()
    if (overdue === 0) throw new Error('no answer came after its limit')
    stage.say(`${overdue} answers came after their limit`)
  },
}
