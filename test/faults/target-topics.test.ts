/** kill −9 of the owner at every point of a commit that writes to a user's topic: each occurrence is one record there. */
import { rm } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { connectLog } from '../../src/log/kafka/log.ts'
import { usually } from '../setup/long.ts'
import { type CrashPoint, crashPoints, tellingCrashPoints } from '../tools/duelog-process-plan.ts'
import { brokers, openSite } from './harness.ts'

const cases = usually<readonly CrashPoint[]>(tellingCrashPoints, crashPoints).flatMap((point) =>
  (['kept', 'lost'] as const).map((store) => ({ point, store })),
)
const [all, wave, everyMs] = [40, 10, 5]

describe.concurrent('an owner killed in the middle of a commit to a topic of the user', () => {
  test.for(cases)(
    '$point, store $store: every occurrence is one record, and none is early',
    async ({ point, store }, context) => {
      const site = await openSite(context, { partitions: 1 })
      const log = connectLog({ brokers, clientId: 'faults' })
      const targetTopic = `x-${site.prefix}orders`
      const plan = { topic: targetTopic, schema: 'execution' as const, config: { 'message.timestamp.type': 'LogAppendTime' } }
      await log.ensureTopics({ plans: [plan], partitions: 2, replication: 1 })
      const seen = new Map<string, { copies: number; earlyMs: number }>()
      const wake = new Set<() => void>()
      const reader = log.reader({
        groupId: `${targetTopic}.seen`,
        topics: [targetTopic],
        instance: 'faults',
        onAssigned: () => undefined,
        onBatch({ records }) {
          for (const { headers, timestampMs } of records) {
            const due = Number(headers['duelog-scheduled-for']?.toString())
            const occurrence = `${headers['duelog-job-id']} ${due}`
            const known = seen.get(occurrence) ?? { copies: 0, earlyMs: 0 }
            seen.set(occurrence, { copies: known.copies + 1, earlyMs: Math.max(known.earlyMs, due - timestampMs) })
          }
          for (const each of wake) each()
        },
        onCrash: (error) => console.log(error),
      })
      context.onTestFinished(() => reader.stop())
      await reader.start()

      const victim = await site.scheduler({ targetTopic, crash: { point, nth: 3 } })
      if (point !== 'before-claim') await victim.next('active')
      const seenBy = (count: number): Promise<void> =>
        new Promise((resolve) => {
          const check = (): void => void (seen.size >= count && resolve())
          wake.add(check)
          check()
        })
      const exit = victim.exited
      let hasExited = false
      void exit.then(() => {
        hasExited = true
      })
      // Each wave is at least one commit, so the third commit comes even on a slow machine.
      for (let written = 0; written < all; ) {
        const shots = Array.from({ length: wave }, (_, index) => ({
          id: `shot-${written + index}`,
          schedule: { at: Date.now() + index * everyMs },
          target: { topic: { name: targetTopic } },
        }))
        expect((await site.client.scheduleMany(shots)).accepted).toBe(wave)
        written += wave
        if (!hasExited) await Promise.race([exit, seenBy(written)])
      }
      expect(await exit).toEqual({ code: null, signal: 'SIGKILL' })
      if (store === 'lost') await rm(site.plan.folder, { recursive: true })

      const successor = await site.scheduler({ targetTopic })
      await seenBy(all)
      await successor.stop()
      expect(seen.size).toBe(all)
      expect([...seen].filter(([, { copies, earlyMs }]) => copies !== 1 || earlyMs > 0)).toEqual([])
    },
  )
})
