import { expect, it } from 'vitest'
import { namedRunsMax, WorkerWatch } from '../../../src/scheduler/activity/activity.ts'

const report = (type: 'STARTED' | 'HEARTBEAT' | 'SUCCEEDED' | 'RETRY_DUE', jobId: string, worker = 'w@h:1:b') => ({
  ...{ type, jobId, worker, runNo: 1, attempt: 1, specOffset: 0 },
})

it('knows the active runs of a worker, and the time of its last report', () => {
  const watch = new WorkerWatch()
  watch.reported(report('STARTED', 'a'), 1)
  watch.reported(report('HEARTBEAT', 'b'), 2)
  watch.reported(report('HEARTBEAT', 'b'), 3)
  watch.reported(report('SUCCEEDED', 'quick', 'other@h:2:b'), 4)
  expect(watch.view()).toEqual([
    { worker: 'w@h:1:b', heardAt: 3, running: 2, runIds: ['a/1', 'b/1'] },
    { worker: 'other@h:2:b', heardAt: 4, running: 0, runIds: [] },
  ])
  watch.reported(report('SUCCEEDED', 'a'), 5)
  watch.reported(report('RETRY_DUE', 'c', 'forwarder@h:3:b'), 6)
  expect(watch.view().map(({ worker, running }) => [worker, running])).toEqual([
    ['other@h:2:b', 0],
    ['w@h:1:b', 1],
  ])
  watch.clear()
  expect(watch.view()).toEqual([])
})

it('names some runs of a worker and counts all', () => {
  const watch = new WorkerWatch()
  for (let index = 0; index < namedRunsMax + 5; index++) watch.reported(report('STARTED', `j${index}`), 1)
  expect(watch.view()[0]).toMatchObject({ running: namedRunsMax + 5 })
  expect(watch.view()[0]?.runIds).toHaveLength(namedRunsMax)
})
