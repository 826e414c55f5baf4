/** Accounts that are in memory. */
import { type JobAccount, runsOf } from './account.ts'

/**
 * What the ledgers of one process keep in memory together: an account counts as many as it has open runs, and as one at least. An account
 * with a run or two has 7 KB.
 */
export const cachedRunsMax = 20_000

/** What each of several ledgers may keep. */
export const sharedBy = (ledgers: { size: number }) => (): number => cachedRunsMax / Math.max(1, ledgers.size)

export class AccountCache {
  readonly #accounts = new Map<string, JobAccount>()
  readonly #heavyJobs = new Map<string, number>()
  #weight = 0

  get size(): number {
    return this.#accounts.size
  }

  /** Open runs, and accounts without any, as of the last time that each was weighed. */
  get weight(): number {
    return this.#weight
  }

  has(id: string): boolean {
    return this.#accounts.has(id)
  }

  get(id: string): JobAccount | undefined {
    return this.#accounts.get(id)
  }

  set(account: JobAccount): void {
    this.#accounts.set(account.id, account)
    this.weigh(account.id)
  }

  /** To be called when its runs are others than before. */
  weigh(id: string): void {
    const account = this.#accounts.get(id)
    const weight = account === undefined ? 0 : Math.max(1, runsOf(account).length)
    this.#weight += weight - (this.#heavyJobs.get(id) ?? 0)
    if (account === undefined) this.#heavyJobs.delete(id)
    else this.#heavyJobs.set(id, weight)
  }

  delete(id: string): void {
    this.#accounts.delete(id)
    this.weigh(id)
  }

  /** Lets the oldest go, as long as there is more than `weightMax`. All must be saved. */
  shrink(weightMax: number): void {
    for (const id of this.#accounts.keys()) {
      if (this.#weight <= weightMax) return
      this.delete(id)
    }
  }
}
