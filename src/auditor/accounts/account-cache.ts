/** The accounts that are in memory, bounded by the number of their open runs. */
import { type JobAccount, runsOf } from './account.ts'

/**
 * Weight that all ledgers of one process may keep in memory together. The weight of an account is its number of open runs, at least 1.
 * An account with one or two runs takes 7 KB.
 */
export const cachedRunsMax = 20_000

/** The share of one ledger, when several ledgers keep accounts in this process. */
export const sharedBy = (ledgers: { size: number }) => (): number => cachedRunsMax / Math.max(1, ledgers.size)

export class AccountCache {
  readonly #accounts = new Map<string, JobAccount>()
  readonly #heavyJobs = new Map<string, number>()
  #weight = 0

  get size(): number {
    return this.#accounts.size
  }

  /** Sum of the weights, each as it was when `weigh` was last called for the account. */
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

  /** To be called when the runs of the account have changed. */
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

  /** Removes the oldest accounts until the weight is at most `weightMax`. All accounts must be saved. */
  shrink(weightMax: number): void {
    for (const id of this.#accounts.keys()) {
      if (this.#weight <= weightMax) return
      this.delete(id)
    }
  }
}
