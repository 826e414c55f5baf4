/**
 * All accounts of an audit, over a local store: in memory are only those that were read or changed last. What is judged is folded into the
 * tally. `save` writes accounts, tally and the positions of the log that they stand for in one batch: who opens the store goes on from there.
 */
import { deserialize, serialize } from 'node:v8'
import { emptyValue, keyAfter } from '../../streams/state/index.ts'
import { type JobAccount, openAccount } from './account.ts'
import { AccountCache, cachedRunsMax } from './account-cache.ts'
import { enter } from './entries.ts'
import type { Find, Finding, Scope, Unjudged } from './finding.ts'
import type { Fact } from './record-facts.ts'
import { isOver, review } from './review.ts'
import type { ReviewContext } from './review-context.ts'
import type { EntryContext } from './run-notes.ts'
import { emptyTally, type Tally } from './tally.ts'

interface Op {
  key: Buffer
  value: Buffer | null
}

/** What is needed of a store; that of src/store does. */
export interface AccountStore {
  get(keys: Buffer[]): Promise<(Buffer | null)[]>
  apply(ops: Op[]): Promise<void>
  scan(range: { from: Buffer; to: Buffer; limit: number }): Promise<{ key: Buffer; value: Buffer }[]>
}

export interface LedgerOptions {
  store: AccountStore
  scope: Scope
  /** Told of each finding in the scope. */
  onFinding(finding: Finding): void
  /** Open runs of one job. Default 2,000; beyond it a job's further runs cannot be judged, and are counted as such. */
  runsMax?: number
  /** Open runs in memory after what has changed was saved; an account counts as one at least. Default `cachedRunsMax`. */
  cachedMax?: () => number
  /** Changed accounts that wait to be saved: writing them lasts some milliseconds. Default 500. */
  unsavedMax?: number
  /** Awaited between accounts: who is in no hurry rests there. */
  rest?(): Promise<void> | undefined
}

/** How far everything was read. */
export type Progress = Pick<ReviewContext, 'watermark' | 'isPresent' | 'isFinal' | 'completeFrom' | 'targetTopics'>

const runsMaxDefault = 2_000
const unsavedMaxDefault = 500
/** Accounts that are looked at in one step. */
const stepAccounts = 50
/** Changes to what is stored make this another number: an older store is begun anew. */
const layout = 1

/** First bytes of the keys: accounts, times to look at them, and the rest. */
const prefix = { account: 0x41, check: 0x43, meta: 0x4d } as const
const metaKey = Buffer.from([prefix.meta])

export class Ledger {
  readonly #options: LedgerOptions
  readonly #cached = new AccountCache()
  readonly #dirty = new Set<string>()
  readonly #find: Find
  readonly #unjudged = (reason: Unjudged, count = 1): void => {
    this.tally.unjudged[reason] += count
  }
  tally: Tally = emptyTally()

  constructor(options: LedgerOptions) {
    this.#options = options
    const { scope, onFinding } = options
    this.#find = (kind, what, detail, nominal) => {
      if (nominal !== undefined && nominal >= 0 && (nominal < scope.from || nominal >= scope.to)) return
      this.tally.findings[kind]++
      onFinding({ kind, what, detail })
    }
  }

  /** Accounts in memory. */
  get cached(): number {
    return this.#cached.size
  }

  /** What `save` was given last; undefined: the store is new, or of another layout and wiped. */
  async restore<Extra>(): Promise<Extra | undefined> {
    const { store } = this.#options
    const [meta] = await store.get([metaKey])
    const saved = meta == null ? undefined : (deserialize(meta) as { layout: number; tally: Tally; extra: Extra })
    if (saved?.layout === layout) {
      this.tally = { ...emptyTally(), ...saved.tally }
      return saved.extra
    }
    for (;;) {
      const entries = await store.scan({ from: Buffer.of(0), to: Buffer.of(0xff), limit: stepAccounts })
      if (entries.length === 0) return undefined
      await store.apply(entries.map(({ key }) => ({ key, value: null })))
    }
  }

  /** Enters facts in the order of their partition. `nowMs`: no record counts as of later. */
  async take(facts: readonly Fact[], nowMs: number): Promise<void> {
    const { runsMax = runsMaxDefault, scope } = this.#options
    await this.#load(facts.map(({ jobId }) => jobId))
    const context: EntryContext = { find: this.#find, unjudged: this.#unjudged, runsMax, nowMs }
    for (const fact of facts) {
      await this.#rest()
      const account = this.#cached.get(fact.jobId) ?? this.#opened(fact.jobId)
      enter(account, fact, context)
      const checkAt = Math.min(fact.at, nowMs) + scope.graceMs
      account.checkAt = Math.min(account.checkAt ?? checkAt, checkAt)
      this.#dirty.add(fact.jobId)
    }
    this.tally.records += facts.length
  }

  /** Judges all that has waited long enough. `save` is called whenever many have changed: what is judged and what is not stand side by side. */
  async settle(progress: Progress, save?: () => Promise<void>): Promise<void> {
    const { watermark, isFinal = false } = progress
    const until = isFinal ? Number.MAX_SAFE_INTEGER - 1 : watermark
    const context = this.#context(progress)
    const judgeAll = async (ids: readonly string[]): Promise<void> => {
      for (const id of ids) {
        // Saving in between may have let it go.
        if (!this.#cached.has(id)) await this.#load([id])
        const account = this.#cached.get(id)
        if (account?.checkAt === undefined || account.checkAt > until) continue
        await this.#review(account, context)
        await this.saveMany(save)
        await this.#rest()
      }
    }
    await judgeAll([...this.#dirty])
    let from: Buffer = Buffer.of(prefix.check)
    const to = checkKey(Math.max(0, until + 1), '')
    for (;;) {
      const entries = await this.#options.store.scan({ from, to, limit: stepAccounts })
      const ids = entries.map(({ key }) => key.toString('utf8', 9))
      await this.#load(ids)
      await judgeAll(ids)
      const last = entries.at(-1)
      if (last === undefined || entries.length < stepAccounts) return
      from = keyAfter(last.key)
    }
  }

  /** Every account, the last ones included, for a count at the end. */
  async each(visit: (account: JobAccount) => void): Promise<void> {
    await this.save(undefined)
    let from: Buffer = Buffer.of(prefix.account)
    for (;;) {
      const entries = await this.#options.store.scan({ from, to: Buffer.of(prefix.account + 1), limit: stepAccounts })
      for (const { value } of entries) visit(deserialize(value) as JobAccount)
      const last = entries.at(-1)
      if (last === undefined) return
      from = keyAfter(last.key)
    }
  }

  /** Calls `save` when many have changed. */
  async saveMany(save = (): Promise<void> => this.save(undefined)): Promise<void> {
    const { unsavedMax = unsavedMaxDefault } = this.#options
    if (this.#dirty.size > unsavedMax) await save()
  }

  /** Writes what has changed, with what the caller wants to find again. */
  async save(extra: unknown): Promise<void> {
    const ops: Op[] = [{ key: metaKey, value: serialize({ layout, tally: this.tally, extra }) }]
    for (const id of this.#dirty) {
      await this.#rest()
      const account = this.#cached.get(id)
      const { indexedAt, checkAt } = account ?? {}
      if (account !== undefined && indexedAt !== checkAt) {
        if (indexedAt !== undefined) ops.push({ key: checkKey(indexedAt, id), value: null })
        if (checkAt !== undefined) ops.push({ key: checkKey(checkAt, id), value: emptyValue })
        account.indexedAt = checkAt
      }
      ops.push({ key: accountKey(id), value: account === undefined || isEmpty(account) ? null : serialize(account) })
    }
    await this.#options.store.apply(ops)
    for (const id of this.#dirty) {
      if (isEmpty(this.#cached.get(id))) this.#cached.delete(id)
      else this.#cached.weigh(id)
    }
    this.#dirty.clear()
    this.#cached.shrink(this.#options.cachedMax?.() ?? cachedRunsMax)
  }

  #context(progress: Progress): ReviewContext {
    const { scope } = this.#options
    return { ...progress, scope, find: this.#find, unjudged: this.#unjudged, tally: this.tally }
  }

  async #review(account: JobAccount, context: ReviewContext): Promise<void> {
    const reviewing = review(account, context)
    let step = reviewing.next()
    for (; !step.done; step = reviewing.next()) {
      const rest = this.#rest()
      if (rest !== undefined) await rest
    }
    this.#dirty.add(account.id)
    account.checkAt = step.value
    if (isOver(account, context)) Object.assign(account, openAccount(account.id), { indexedAt: account.indexedAt })
  }

  #rest(): Promise<void> | undefined {
    return this.#options.rest?.()
  }

  #opened(id: string): JobAccount {
    const account = openAccount(id)
    this.#cached.set(account)
    return account
  }

  async #load(ids: readonly string[]): Promise<void> {
    const absent = [...new Set(ids)].filter((id) => !this.#cached.has(id))
    if (absent.length === 0) return
    const values = await this.#options.store.get(absent.map(accountKey))
    for (const value of values) {
      await this.#rest()
      if (value != null) this.#cached.set(deserialize(value) as JobAccount)
    }
  }
}

/** One of which nothing is known any more. */
const isEmpty = (account: JobAccount | undefined): boolean => account !== undefined && account.lastAt < 0

function accountKey(id: string): Buffer {
  return Buffer.concat([Buffer.of(prefix.account), Buffer.from(id)])
}

function checkKey(at: number, id: string): Buffer {
  const key = Buffer.alloc(9 + Buffer.byteLength(id))
  key[0] = prefix.check
  key.writeBigUInt64BE(BigInt(Math.max(0, Math.floor(at))), 1)
  key.write(id, 9)
  return key
}
