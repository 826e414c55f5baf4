/**
 * A scheduler in a process of its own: `node duelog-process-child.ts PLAN_AS_JSON`. It loads, waits for `go`, and reports over
 * IPC. It ends with its parent.
 */
import type { ChildMessage, SchedulerPlan } from './duelog-process-plan.ts'
import { schedulerOf } from './duelog-process-scheduler.ts'

const say = (message: ChildMessage): void => {
  if (process.connected) process.send?.(message)
}
const plan = JSON.parse(process.argv[2] ?? '') as SchedulerPlan
const { scheduler, report } = await schedulerOf(
  plan,
  (level, message) => say({ kind: 'log', level, message }),
  (error) => say({ kind: 'fatal', message: error.message }),
)

process.on('message', (message) => {
  if (message === 'go') void scheduler.start().then(async () => scheduler.ready().then(() => say({ kind: 'active' })))
  if (message === 'report') void report().then((answer) => say({ kind: 'report', report: answer }))
  if (message === 'stop') {
    void scheduler.stop().then(() => {
      say({ kind: 'stopped' })
      process.disconnect()
    })
  }
})
// The parent has ended, or has disconnected after a stop: this process must not outlive it.
process.on('disconnect', () => process.exit())
say({ kind: 'loaded' })
