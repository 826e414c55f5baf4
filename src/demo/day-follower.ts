/** Follows the day in the log: enters what happened in the accounts, and notices its end and its markers. */

import type { TopicNames } from '../../streams/topics/index.ts'
import { type Fact, LogFollower } from '../auditor/index.ts'
import type { Codecs } from '../kafka/index.ts'
import type { Log } from '../ports/index.ts'
import type { RunAccounts } from './run-accounts.ts'

export interface DayFollowerOptions {
  log: Log
  codecs: Codecs
  names: TopicNames
  accounts: RunAccounts
  /** Marker jobs, which the accounts do not count; see `seen`. */
  isMark(jobId: string): boolean
  onError(error: Error): void
}

export class DayFollower {
  /** Resolves when every expected occurrence has ended. */
  readonly complete: Promise<void>
  readonly #accounts: RunAccounts
  readonly #isMark: (jobId: string) => boolean
  readonly #log: LogFollower
  readonly #complete = Promise.withResolvers<void>()
  /** The kinds of records that were read of each mark. */
  readonly #marks = new Map<string, Set<'execution' | 'end'>>()
  #awaited: { ids: ReadonlySet<string>; resolve(): void } | undefined

  constructor({ log, codecs, names, accounts, isMark, onError }: DayFollowerOptions) {
    this.#accounts = accounts
    this.#isMark = isMark
    this.complete = this.#complete.promise
    const onFact = (fact: Fact): void => this.#enter(fact)
    this.#log = new LogFollower({ log, codecs, names, pool: 'default', instance: 'demo', withStates: true, onFact, onError })
  }

  start(): Promise<void> {
    return this.#log.start()
  }

  /** Resolves when the execution and the end of each mark were read. All records before them were read then too. */
  seen(ids: ReadonlySet<string>): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { ids, resolve }
      this.#check()
    })
  }

  stop(): Promise<void> {
    return this.#log.stop()
  }

  #enter(fact: Fact): void {
    if (!this.#isMark(fact.jobId)) this.#accounts.enter(fact)
    else if (fact.kind === 'dispatch') this.#mark(fact.jobId, 'execution')
    else if (fact.kind === 'state' && fact.state?.lastRun) this.#mark(fact.jobId, 'end')
    this.#check()
  }

  #mark(id: string, kind: 'execution' | 'end'): void {
    this.#marks.set(id, (this.#marks.get(id) ?? new Set()).add(kind))
  }

  #check(): void {
    if (this.#accounts.complete) this.#complete.resolve()
    if (this.#awaited && [...this.#awaited.ids].every((id) => this.#marks.get(id)?.size === 2)) this.#awaited.resolve()
  }
}
