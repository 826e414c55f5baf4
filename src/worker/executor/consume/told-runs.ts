/**
 * What a lane has told with its last commit of the runs that it holds back (src/ground/records/worker-data.ts), and whether it has to tell it again
 * although its offset is the same.
 */
import { closedText, type TakenRuns, takenText } from '../../../ground/records/index.ts'

/** Often enough that one lost commit does not end it. */
export const toldAgainMs = 5_000

const closed = 'closed'

/** A lane and its entries, as far as they count here. */
interface HoldingLane {
  reach: number
  held: number
  sharing: number
}
interface HeldEntry {
  state: string
  batch: { readonly isGathering: boolean } | undefined
}

/** `open`: the entries from the first that is not done. Undefined: all that is not committed waits, or is accepted within moments. */
export function takenRuns({ reach, held, sharing }: HoldingLane, open: readonly HeldEntry[]): TakenRuns | undefined {
  const gathering = open.filter(({ state, batch }) => state === 'held' && batch?.isGathering === true).length
  return gathering + sharing === 0 ? undefined : { reach, waiting: held - gathering, sharing }
}

export class ToldRuns {
  #telling = ''
  #told = ''
  #toldAtMs = Number.NEGATIVE_INFINITY

  /** Whether there is something to tell, which must be told again until there is nothing. */
  get isOpen(): boolean {
    return this.#telling !== '' && this.#telling !== closed
  }

  /** The metadata for a commit now, and whether it says something new. `closed`: nothing that has started is left, and nothing more starts. */
  look(taken: TakenRuns | typeof closed | undefined, nowMs: number): { metadata: string | undefined; isNew: boolean } {
    this.#telling = taken === undefined ? '' : taken === closed ? closed : JSON.stringify(taken)
    const isOld = this.isOpen && Math.abs(nowMs - this.#toldAtMs) >= toldAgainMs
    const metadata = taken === closed ? closedText(nowMs) : taken && takenText(taken, nowMs)
    return { metadata, isNew: isOld || this.#telling !== this.#told }
  }

  /** The last state that was looked at is committed. */
  committed(nowMs: number): void {
    this.#told = this.#telling
    this.#toldAtMs = nowMs
  }

  /** Another worker tells it from now on. */
  forget(): void {
    this.#telling = ''
    this.#told = ''
  }
}
