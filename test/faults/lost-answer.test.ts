/**
 * The broker commits, and its answer never arrives. The owner cannot know the outcome, and must neither repeat nor lose the work.
 */
import { describe, expect, test } from 'vitest'
import { clean } from '../tools/checker-audit.ts'
import { apiKeys, startProxy } from '../tools/tcp-proxy.ts'
import { brokers, oneShots, openSite, recurring } from './harness.ts'

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((total, count) => total + count, 0)

/**
 * Numbers of the EndTxn requests whose answer is lost. The first is that of the claim. The request after a lost one asks for the
 * same commit again.
 */
const cases = [
  { name: 'one commit', lost: [4] },
  { name: 'the claim', lost: [1] },
  { name: 'a commit, and the same when it is asked for again', lost: [4, 5] },
  { name: 'three commits and the claim after one of them', lost: [3, 5, 8, 11] },
]

describe.concurrent('an answer to EndTxn that is lost', () => {
  test.for(cases)('$name: the partition is reopened, nothing is lost or doubled', async ({ lost }, context) => {
    const site = await openSite(context, { partitions: 1 })
    let ends = 0
    const dropResponse = (apiKey: number): boolean => apiKey === apiKeys.endTxn && lost.includes(++ends)
    const proxy = await startProxy({ target: brokers[0] ?? '', dropResponse })
    context.onTestFinished(() => proxy.close())
    const owner = await site.scheduler({ proxyPort: proxy.port, requestTimeoutMs: 1_000, transactionTimeoutMs: 5_000 })
    const expected = await site.write(recurring('again', 3, Date.now() + 500, 300, 12))
    // One portion after the other, so that there are enough commits to lose.
    for (let portion = 0; ends < Math.max(...lost); portion++) {
      const shots = await site.write(oneShots(`shot-${portion}`, 20, Date.now() + 50, 20))
      expected.push(...shots)
      await site.checker.dispatched(shots)
    }
    await site.checker.dispatched(expected)
    // The transaction of the last lost answer is in the log at once. The owner notices the loss when the request times out.
    const report = await owner.reportThat(({ reopens }) => sum(reopens) >= lost.length)
    await owner.stop()
    expect(await site.checker.audit(expected)).toEqual(clean)
    expect(sum(report.reopens)).toBe(lost.length)
  })
})
