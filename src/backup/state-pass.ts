/**
 * Whether a read of one partition of job-state has met each record that was written there. Compaction leaves gaps between offsets. An owner's
 * transaction ends with its position; a claim and a marker of a restore or reshard are one record. The end of either transaction takes the next
 * offset and is never delivered.
 * Every other gap counts as a removed record, also that of an aborted transaction.
 */
import { movedKey, ownerKey, positionKey, restoringKey } from '../../streams/state/index.ts'
import type { RecordIn } from '../ports/index.ts'

const lastKeys = [positionKey, ownerKey, movedKey, restoringKey]

export class StatePass {
  #first: number | undefined
  #next = 0
  #ends = false
  #isGapless = true

  take({ offset, key }: Pick<RecordIn, 'offset' | 'key'>): void {
    if (this.#first === undefined) this.#first = offset
    else if (!this.#reaches(offset)) this.#isGapless = false
    this.#next = offset + 1
    this.#ends = lastKeys.some((last) => key?.equals(last) === true)
  }

  isWhole({ from, to }: { from: number; to: number }): boolean {
    return this.#isGapless && this.#first === from && this.#reaches(to)
  }

  #reaches(offset: number): boolean {
    return offset === this.#next || (this.#ends && offset === this.#next + 1)
  }
}
