/** Users of other schedulers. They write schedules in those formats, and many kinds of records that are not schedules. */
import { ordersTopic } from '../world.ts'
import { jobIds, madeHeader } from './definitions.ts'
import type { Cluster } from './process.ts'

/** One topic for each dialect. */
export const foreignTopics = { etf1: ['foreign.etf1'], karafka: ['foreign.karafka'] } as const

export class Foreigners {
  readonly #cluster: Cluster
  #made = 0

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** Writes one record of such a user. Returns its description. */
  act(): string {
    const { chance, log } = this.#cluster
    const dialect = chance.pick(['etf1', 'karafka'] as const)
    const key = chance.weighted({ known: 6, none: 1, odd: 1 })
    const id = chance.pick([...jobIds, 'g', 'h'])
    const what = chance.weighted({ schedule: 6, cancel: 1, nonsense: 1 })
    const made = dialect === 'etf1' ? this.#etf1(what) : this.#karafka(what)
    const bytes = key === 'known' ? Buffer.from(id) : key === 'none' ? null : Buffer.of(1, 255, chance.int(0, 3))
    log.append([{ topic: foreignTopics[dialect][0], key: bytes, ...made }])
    return `foreigner: ${dialect} ${what} ${key === 'known' ? id : key}`
  }

  #seconds(): string {
    const { chance, time } = this.#cluster
    return String(Math.floor((time.nowMs + chance.int(-3_000, 8_000)) / 1_000))
  }

  #etf1(what: string | undefined): { value: Buffer | null; headers: Record<string, string> } {
    const headers = { 'scheduler-epoch': this.#seconds(), 'scheduler-target-topic': ordersTopic, [madeHeader]: this.#name() }
    if (what === 'schedule') return { value: Buffer.from('{}'), headers: { ...headers, 'scheduler-target-key': 'one' } }
    if (what === 'cancel') return { value: null, headers: {} }
    return {
      value: Buffer.from('{}'),
      headers: { ...headers, 'scheduler-epoch': this.#cluster.chance.pick(['', 'soon', '1e9']) },
    }
  }

  #karafka(what: string | undefined): { value: Buffer | null; headers: Record<string, string> } {
    const headers = {
      schedule_schema_version: '1.0.0',
      schedule_source_type: what === 'schedule' ? 'schedule' : 'cancel',
      schedule_target_epoch: this.#seconds(),
      schedule_target_topic: ordersTopic,
      [madeHeader]: this.#name(),
    }
    if (what !== 'nonsense') return { value: Buffer.from('{}'), headers }
    return { value: null, headers: { ...headers, schedule_schema_version: this.#cluster.chance.pick(['', '2.0.0']) } }
  }

  #name(): string {
    return `foreign-${this.#made++}`
  }
}
