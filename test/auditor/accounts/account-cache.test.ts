/** What the auditor has in memory is counted by open runs, and is shared by the partitions of a process. */
import { expect, it } from 'vitest'
import {
  AccountCache,
  cachedRunsMax,
  type JobAccount,
  openAccount,
  type RunAccount,
  sharedBy,
} from '../../../src/tools/auditor/accounts/account.ts'

const runs = (count: number): RunAccount[] => Array.from({ length: count }, () => ({}) as RunAccount)

function account(id: string, openRuns: number): JobAccount {
  const made = openAccount(id)
  made.runs.set(1, runs(openRuns))
  return made
}

it('an account weighs as many as its open runs, at least one, at the time of weighing', () => {
  const cache = new AccountCache()
  const grows = account('grows', 0)
  cache.set(grows)
  cache.set(account('many', 30))
  expect(cache.weight).toBe(31)
  grows.runs.set(2, runs(5))
  expect(cache.weight).toBe(31)
  cache.weigh('grows')
  expect(cache.weight).toBe(35)
  cache.delete('many')
  cache.delete('never')
  expect([cache.weight, cache.size]).toEqual([5, 1])
})

it('the oldest are evicted, and no more than needed', () => {
  const cache = new AccountCache()
  for (const id of ['a', 'b', 'c']) cache.set(account(id, 10))
  cache.shrink(30)
  expect(cache.size).toBe(3)
  cache.shrink(29)
  expect(['a', 'b', 'c'].filter((id) => cache.has(id))).toEqual(['b', 'c'])
  cache.shrink(0)
  expect([cache.weight, cache.size]).toEqual([0, 0])
})

it('each ledger keeps its share of the common limit, by the current number of ledgers', () => {
  const ledgers = new Map<number, string>()
  const share = sharedBy(ledgers)
  expect(share()).toBe(cachedRunsMax)
  for (let partition = 0; partition < 4; partition++) ledgers.set(partition, 'a ledger')
  expect(share()).toBe(cachedRunsMax / 4)
})
