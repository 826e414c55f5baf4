/** The workers of the pool as their group shows them: they join, leave and have different handlers. The test doubles work as these workers. */
import type { GroupMember } from '../../../src/ground/ports/log.ts'
import type { Chance } from '../../../src/testing/simulation/chance.ts'

const handlers = ['noop', 'http']

export class PoolMembers {
  readonly #chance: Chance
  #workers = new Map<string, readonly string[]>()
  #joined = 0
  #isJoining = false

  constructor(chance: Chance) {
    this.#chance = chance
    this.change()
  }

  get members(): GroupMember[] {
    return Array.from(this.#workers, ([instance, names]) => ({
      ...{ memberId: instance, instance: this.#isJoining ? instance.slice(0, 2) : instance, assigned: [] },
      userData: this.#isJoining ? null : { handlers: names },
      isJoining: this.#isJoining,
    }))
  }

  has(instance: string): boolean {
    return this.#workers.has(instance)
  }

  /** A worker that reads the topics, and whether it has the handler. Undefined: there is none. */
  anyOne(handler: string): { instance: string; hasHandler: boolean } | undefined {
    if (this.#workers.size === 0) return undefined
    const [instance, names] = this.#chance.pick([...this.#workers])
    return { instance, hasHandler: names.includes(handler) }
  }

  get isEmpty(): boolean {
    return this.#workers.size === 0
  }

  /** One worker joins or leaves, or the group begins or ends to assign its partitions. */
  change(): void {
    const what = this.#chance.weighted({ join: 3, leave: this.#workers.size > 0 ? 2 : 0, assign: 1 })
    if (what === 'assign') this.#isJoining = !this.#isJoining
    else if (what === 'leave') this.#workers.delete(this.#chance.pick([...this.#workers.keys()]))
    else {
      const names = this.#chance.pick([handlers, ['noop'], ['http'], []])
      this.#workers.set(`w${this.#joined}@host:${this.#joined++}:x`, names)
    }
  }

  /** From now on one worker has all handlers, beside those that are there. */
  rest(): void {
    this.#isJoining = false
    this.#workers.set(`last@host:${this.#joined++}:x`, handlers)
  }
}
