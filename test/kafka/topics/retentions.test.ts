/** Retention of dispatched executions from the owner's view: the shortest of the pool's topics. */
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { executionsRetentionMs, topicNames, topicPlans } from '../../../streams/topics/topics.ts'
import { openLog, uniquePrefix } from '../harness.ts'

it('the result is the shortest retention of the topics of a pool, and a shorter one than planned is logged', async () => {
  const prefix = uniquePrefix()
  const names = topicNames(prefix)
  const short = names.executions('short', 'LOW', true)
  const plans = topicPlans(names, ['default', 'short', 'ever']).flatMap((plan) => {
    if (!plan.topic.startsWith(`${prefix}executions.`) || plan.topic === names.deadLetters) return []
    const more = plan.topic === short ? '86400000' : plan.topic.includes('.ever.') ? '-1' : undefined
    return [{ ...plan, config: { ...plan.config, ...(more !== undefined && { 'retention.ms': more }) } }]
  })
  await openLog().ensureTopics({ plans, partitions: 1, replication: 1 })
  const said: string[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void said.push(JSON.parse(line).topic) })
  const targets = openLog({ logger }).targetTopics({ patterns: [], prefix, pools: ['default'] })
  onTestFinished(() => targets.stop())
  await targets.start()
  expect(['default', 'short', 'ever', 'unknown'].map((pool) => targets.keptMs(pool))).toEqual([
    executionsRetentionMs,
    86_400_000,
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
  ])
  await targets.check()
  expect(said).toEqual([short])
})
