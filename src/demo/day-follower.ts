/**
 * Follows the log during the day: enters each record in the accounts, and resolves when every occurrence has ended or all markers
 * were read.
 */

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
  /** Says whether a job is a marker. The accounts do not count markers; see `seen`. */
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
  /** By marker: the kinds of its records that were read. */
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

  /**
   * Resolves when the execution and the end of each marker were read. All earlier records of their partitions were read by then.
   */
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
