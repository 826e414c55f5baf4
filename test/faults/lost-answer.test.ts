/**
 * The broker commits, and its answer never arrives. The owner cannot know the outcome, and must neither repeat nor lose the work. With transactions of
 * version 2 it asks again, and goes on.
 */
import { describe, expect, test } from 'vitest'
import { clean } from '../tools/checker-audit.ts'
import { apiKeys, startProxy, withoutFeatures } from '../tools/tcp-proxy.ts'
import { brokers, oneShots, openSite, recurring } from './harness.ts'

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((total, count) => total + count, 0)

/**
 * Numbers of the EndTxn requests whose answer is lost. The first is that of the claim. The request after a lost one asks for the
 * same commit again. `reopens`: with transactions of version 1. A writer that fences asks until it has the answer.
 */
const cases = [
  { name: 'one commit', lost: [4], reopens: 1 },
  { name: 'the claim', lost: [1], reopens: 1 },
  { name: 'a commit, and the same when it is asked for again', lost: [4, 5], reopens: 1 },
  { name: 'three commits and the claim after one of them', lost: [3, 5, 8, 11], reopens: 4 },
]

const inBoth = cases.flatMap((each) => [
  { ...each, version: 2, reopens: 0, transactionTimeoutMs: 30_000 },
  { ...each, version: 1, transactionTimeoutMs: 5_000 },
])

describe.concurrent('an answer to EndTxn that is lost', () => {
  test.for(inBoth)('version $version, $name: $reopens reopens, nothing is lost or doubled', async (given, context) => {
    const { lost, version, reopens, transactionTimeoutMs } = given
    const site = await openSite(context, { partitions: 1 })
    let ends = 0
    const dropResponse = (apiKey: number): boolean => apiKey === apiKeys.endTxn && lost.includes(++ends)
    const unknown = version === 1 ? withoutFeatures : () => false
    const proxy = await startProxy({ target: brokers[0] ?? '', dropResponse, unknown })
    context.onTestFinished(() => proxy.close())
    const owner = await site.scheduler({ proxyPort: proxy.port, requestTimeoutMs: 1_000, transactionTimeoutMs })
    const expected = await site.write(recurring('again', 3, Date.now() + 500, 300, 12))
    // One portion after the other, so that there are enough commits to lose.
    for (let portion = 0; ends < Math.max(...lost); portion++) {
      const shots = await site.write(oneShots(`shot-${portion}`, 20, Date.now() + 50, 20))
      expected.push(...shots)
      await site.checker.dispatched(shots)
    }
    await site.checker.dispatched(expected)
    // The transaction of the last lost answer is in the log at once. The owner notices the loss when the request times out.
    const report = await owner.reportThat((each) => sum(each.reopens) >= reopens)
    await owner.stop()
    expect(await site.checker.audit(expected)).toEqual(clean)
    expect(sum(report.reopens)).toBe(reopens)
  })
})
