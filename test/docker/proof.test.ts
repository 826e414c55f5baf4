/** The judges of `npm run test:docker`, which is run by hand: each finds what it is there for, and every base image has a stand-in. */
import { expect, test } from 'vitest'
import { faultsOf, type Shape } from './proof/checks.ts'
import { type EndedRun, judge, latenessBy, planned } from './proof/day.ts'
import { imagesWithoutRecipe } from './proof/stand-ins.ts'

const startAt = Date.UTC(2030, 0, 1)
const plan = planned(60, startAt, 60_000)
const runOf = ({ id, dueAt, attempts, dead }: (typeof plan)[number]): EndedRun => ({
  jobId: id,
  outcome: dead ? 'DEAD' : 'SUCCEEDED',
  attempts,
  dueAt: new Date(dueAt).toISOString(),
  startedAt: new Date(dueAt + 40).toISOString(),
})
const proved = plan.map(runOf)

test('each base image has a stand-in, but for Grafana: npm run test:docker proves the compose file in real containers, by hand', () => {
  expect(imagesWithoutRecipe().map((image) => image.split(':')[0])).toEqual(['grafana/grafana'])
})

test('a day is proved when each job ran once with its outcome', () => {
  expect(plan.length).toBeGreaterThan(50)
  expect(judge(plan, proved)).toEqual({ expected: plan.length, ended: plan.length, faults: [] })
  // A worker that was stopped gave its run back.
  expect(judge(plan, [{ ...(proved[0] as EndedRun), attempts: 9 }, ...proved.slice(1)]).faults).toEqual([])
})

test('red: a lost, a doubled, a foreign and a wrong run', () => {
  const [first, ...others] = proved as [EndedRun, ...EndedRun[]]
  expect(judge(plan, others).faults).toEqual([`${first.jobId} has no run.`])
  expect(judge(plan, [first, ...proved]).faults).toEqual([`${first.jobId} has 2 runs.`])
  expect(judge(plan, [...proved, { ...first, jobId: 'stranger' }]).faults).toEqual(['stranger is no job of the day.'])
  expect(judge(plan, [{ ...first, outcome: 'CANCELLED' }, ...others]).faults).toEqual([`${first.jobId} ended as CANCELLED.`])
  expect(judge(plan, [{ ...first, attempts: 0 }, ...others]).faults).toHaveLength(1)
})

test('lateness is counted by the span in which an attempt was due', () => {
  const middle = startAt + 30_000
  const rows = latenessBy(
    [
      { name: 'before', at: startAt },
      { name: 'after', at: middle },
    ],
    proved,
  )
  expect(rows.map(({ runs }) => runs)).toEqual([
    plan.filter(({ dueAt }) => dueAt < middle).length,
    plan.filter(({ dueAt }) => dueAt >= middle).length,
  ])
  for (const row of rows) expect(row).toMatchObject({ p50Ms: 40, p99Ms: 40, maxMs: 40 })
})

test('red: a container that may do more than its work', () => {
  const closed: Shape = {
    ...{
      uid: '1000',
      rootWritable: false,
      dataWritable: true,
      capabilities: '0000000000000000',
      noNewPrivileges: '1',
      leaks: [],
    },
  }
  expect(faultsOf('api', closed)).toEqual([])
  const opened: Partial<Shape>[] = [
    ...[{ uid: '0' }, { rootWritable: true }, { dataWritable: false }, { capabilities: '00000000a80425fb' }],
    ...[{ capabilities: '' }, { noNewPrivileges: '0' }, { leaks: ['DUELOG_API_TOKENS=x'] }],
  ]
  for (const each of opened) expect(faultsOf('api', { ...closed, ...each })).toHaveLength(1)
})
