/**
 * All accounts of an audit, in a local store. Memory holds only the accounts that were read or changed last. Judged runs are counted in
 * the tally. `save` writes accounts, tally and log positions in one batch, so that a later start continues from there.
 */
import { deserialize, serialize } from 'node:v8'
import { emptyValue, keyAfter } from '../../../streams/state/index.ts'
import { AccountCache, cachedRunsMax, type EntryContext, enter, type JobAccount, openAccount } from './accounts/index.ts'
import type { Progress } from './calendar.ts'
import { emptyTally, type Finding, Findings, type Scope, type Tally } from './findings/index.ts'
import type { Fact } from './reading/index.ts'
import { isOver, review } from './review.ts'

interface Op {
  key: Buffer
  value: Buffer | null
}

/** The part of a store that the ledger needs. A store of src/log/store fits. */
export interface AccountStore {
  get(keys: Buffer[]): Promise<(Buffer | null)[]>
  apply(ops: Op[]): Promise<void>
  scan(range: { from: Buffer; to: Buffer; limit: number }): Promise<{ key: Buffer; value: Buffer }[]>
}

export interface LedgerOptions {
  store: AccountStore
  scope: Scope
  /** Called for each finding in the scope. */
  onFinding(finding: Finding): void
  /**
   * Largest number of open runs of one job. Further runs of the job are not judged, and are counted as not judged. Default 2,000.
   */
  runsMax?: number
  /** Largest weight of the accounts in memory after a save (AccountCache). Default `cachedRunsMax`. */
  cachedMax?: () => number
  /** Changed accounts that may wait to be saved; writing them takes some milliseconds. Default 500. */
  unsavedMax?: number
  /** Awaited between accounts, so that the caller can pause the work. */
  rest?(): Promise<void> | undefined
}

const runsMaxDefault = 2_000
const unsavedMaxDefault = 500
/** Accounts that are reviewed in one step. */
const stepAccounts = 50
/** Layout of the store. A change of the layout changes this number, and an older store is wiped. */
const layout = 1

/** First bytes of the keys: accounts, review times, and the rest. */
const prefix = { account: 0x41, check: 0x43, meta: 0x4d } as const
const metaKey = Buffer.from([prefix.meta])

export class Ledger {
  readonly #options: LedgerOptions
  readonly #cached = new AccountCache()
  readonly #dirty = new Set<string>()
  readonly #findings: Findings

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#findings = new Findings(options.scope, options.onFinding)
  }

  get tally(): Tally {
    return this.#findings.tally
  }

  /** Accounts in memory. */
  get cached(): number {
    return this.#cached.size
  }

  /**
   * `extra`: the value last given to `save`. Absent: the store is new, or was wiped. `wiped`: why; it had another layout, or `unusable` gave a
   * reason.
   */
  async restore<Extra>(unusable?: (extra: Extra) => string | undefined): Promise<{ extra?: Extra; wiped?: string }> {
    const { store } = this.#options
    const [meta] = await store.get([metaKey])
    const saved = meta == null ? undefined : (deserialize(meta) as { layout: number; tally: Tally; extra: Extra })
    const isOurs = saved?.layout === layout
    const wiped = isOurs ? unusable?.(saved.extra) : saved && 'another version of Duelog has written it'
    if (isOurs && wiped === undefined) {
      this.#findings.tally = { ...emptyTally(), ...saved.tally }
      return { extra: saved.extra }
    }
    for (;;) {
      const entries = await store.scan({ from: Buffer.of(0), to: Buffer.of(0xff), limit: stepAccounts })
      if (entries.length === 0) return wiped === undefined ? {} : { wiped }
      await store.apply(entries.map(({ key }) => ({ key, value: null })))
    }
  }

  /** Enters facts in the order of their partition. `nowMs`: later record times are cut to it. */
  async take(facts: readonly Fact[], nowMs: number): Promise<void> {
    const { runsMax = runsMaxDefault, scope } = this.#options
    await this.#load(facts.map(({ jobId }) => jobId))
    const context: EntryContext = { findings: this.#findings, runsMax, nowMs }
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

  /**
   * Judges all accounts whose grace has passed. Calls `save` each time many accounts have changed. A save may contain judged and
   * open accounts.
   */
  async settle(progress: Progress, save?: () => Promise<void>): Promise<void> {
    const { watermark, isFinal = false } = progress
    const until = isFinal ? Number.MAX_SAFE_INTEGER - 1 : watermark
    const judgeAll = async (ids: readonly string[]): Promise<void> => {
      for (const id of ids) {
        // A save in between may have removed it from memory.
        if (!this.#cached.has(id)) await this.#load([id])
        const account = this.#cached.get(id)
        if (account?.checkAt === undefined || account.checkAt > until) continue
        await this.#review(account, progress)
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

  /** Every account, unsaved ones included, for a count at the end. */
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

  /** Calls `save` when many accounts have changed. */
  async saveMany(save = (): Promise<void> => this.save(undefined)): Promise<void> {
    const { unsavedMax = unsavedMaxDefault } = this.#options
    if (this.#dirty.size > unsavedMax) await save()
  }

  /** Writes the changed accounts together with the caller's value. */
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

  async #review(account: JobAccount, progress: Progress): Promise<void> {
    const reviewing = review(account, progress, this.#findings)
    let step = reviewing.next()
    for (; !step.done; step = reviewing.next()) {
      const rest = this.#rest()
      if (rest !== undefined) await rest
    }
    this.#dirty.add(account.id)
    account.checkAt = step.value
    if (isOver(account, progress.watermark, this.#options.scope.graceMs))
      Object.assign(account, openAccount(account.id), { indexedAt: account.indexedAt })
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

/** An account without any remaining fact. */
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
