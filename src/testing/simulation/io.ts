/**
 * Every effect of a process waits here until the simulator lets it happen: in any order, late, or perhaps not at all when the
 * process dies. Between two such steps only promises run, so a history depends on its seed alone.
 */
import type { Chance } from './chance.ts'
import { ManualClock, type VirtualTime } from './manual-clock.ts'

export class Machine {
  readonly name: string
  readonly clock: ManualClock
  alive = true
  /** True time of its death. */
  diedAt = Number.POSITIVE_INFINITY

  constructor(name: string, time: VirtualTime) {
    this.name = name
    this.clock = new ManualClock(time)
  }

  get frozen(): boolean {
    return this.alive && this.clock.stopped
  }
}

interface Waiting {
  machine: Machine
  name: string
  /** Applies the effect and answers. */
  happen: () => void
  /** Applies the effect without an answer. */
  land: () => void
}

export class Io {
  readonly #chance: Chance
  #waiting: Waiting[] = []

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** Resolves with the result of `effect`, once the simulator lets it happen. */
  submit<T>(machine: Machine, name: string, effect: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!machine.alive) return
      const happen = (): void => {
        try {
          resolve(effect())
        } catch (error) {
          reject(error)
        }
      }
      const land = (): void => {
        try {
          effect()
        } catch {
          // A dead process receives no refusal.
        }
      }
      this.#waiting.push({ machine, name, happen, land })
    })
  }

  get ready(): number {
    let ready = 0
    for (const { machine } of this.#waiting) if (!machine.frozen) ready++
    return ready
  }

  /** Lets one of the waiting effects happen. Returns its description. */
  step(): string {
    // Among those of machines that are not frozen. This runs at every step, so no lists are made.
    let left = this.#chance.int(0, this.ready - 1)
    const at = this.#waiting.findIndex(({ machine }) => !machine.frozen && left-- === 0)
    const [chosen] = this.#waiting.splice(at, 1) as [Waiting]
    chosen.happen()
    return `${chosen.machine.name} ${chosen.name}`
  }

  /** The machine died. Its requests may still take effect. */
  drop(machine: Machine): void {
    const lost = this.#waiting.filter((waiting) => waiting.machine === machine)
    this.#waiting = this.#waiting.filter((waiting) => waiting.machine !== machine)
    for (const waiting of lost) if (this.#chance.happens(0.5)) waiting.land()
  }
}
