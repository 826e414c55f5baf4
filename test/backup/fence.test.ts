/** What the fence of a moved system holds back: a suspended owner that wakes up, one that has just fired, and one that starts afresh. */
import { expect, it } from 'vitest'
import type { LogAdmin, TransactionalWriter } from '../../src/ground/ports/log.ts'
import { fence, retire } from '../../src/tools/backup/fence.ts'
import { movedKey } from '../../streams/state/index.ts'
import type { Process } from '../model/cluster/process.ts'
import { codecs, names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const partitions = 2

/** The cluster as the command sees it: the same log, by another connection. */
function connected({ log }: SchedulerDriver) {
  const transactionalWriter = async (id: string): Promise<TransactionalWriter> => {
    const epoch = log.fence(id)
    return {
      async commit(records) {
        const offsets = log.append(records, log.begin(id, epoch))
        log.commit(id, epoch)
        return offsets
      },
      close: async () => {},
    }
  }
  const offsets = async () => Array.from({ length: partitions }, (_, partition) => ({ partition, earliest: 0, next: 0 }))
  return { system: { log: { transactionalWriter }, names } as never, admin: { offsets } as unknown as LogAdmin }
}

/** All that can be read anywhere. `claims`: those of owners, which decide nothing. */
function recordsIn({ log }: SchedulerDriver): { decided: string[]; claims: number } {
  let claims = 0
  const decided = log.allOf('model.').flatMap(({ topic, partition, log: { archive } }) =>
    archive.flatMap(({ record, transaction }, offset) => {
      if (record === undefined || transaction?.state === 'aborted') return []
      if (topic === names.state && String(record.key) === 'Mowner') claims++
      else return [`${topic}/${partition}:${offset}`]
      return []
    }),
  )
  return { decided, claims }
}

const problems = ({ scheduler }: Process): (string | null | undefined)[] =>
  scheduler.queries.partitions().map(({ problem }) => problem)

async function firing() {
  const driver = new SchedulerDriver(partitions)
  const owner = driver.boot('A')
  await driver.settle()
  for (let job = 0; job < 4; job++)
    driver.define(`tick-${job}`, {
      schedule: { everyMs: 60_000 },
      target: { handler: 'x' },
      overlap: 'ALLOW',
      maxConcurrentRuns: 100,
    })
  await driver.advance(61_000, 1_000)
  expect(driver.executions().length).toBeGreaterThanOrEqual(4)
  return { driver, owner, ...connected(driver) }
}

it('a scheduler that was suspended while its system was moved decides nothing when it wakes up, and names the new system', async () => {
  const { driver, owner, system, admin } = await firing()
  owner.machine.clock.stopped = true
  if (owner.member !== undefined) driver.cluster.group.leave(owner.member)
  await driver.advance(30_000, 1_000)
  await retire(system, codecs, admin, 'duelog2.')
  const before = recordsIn(driver)
  owner.machine.clock.stopped = false
  await driver.advance(600_000, 1_000)
  expect(recordsIn(driver).decided).toEqual(before.decided)

  const next = driver.boot('B')
  await driver.advance(600_000, 1_000)
  const after = recordsIn(driver)
  expect(after.decided).toEqual(before.decided)
  // Each of them claims once at most, until it has read the marker.
  expect(after.claims - before.claims).toBeLessThanOrEqual(2 * partitions)
  const said = [...problems(owner), ...problems(next)]
  expect(said).toHaveLength(partitions)
  for (const problem of said) expect(problem).toContain('moved to duelog2.*')
})

it('an owner and its standby that run while their system is fenced fire no more, until the fence is lifted', async () => {
  const { driver, owner, system, admin } = await firing()
  await retire(system, codecs, admin, 'duelog2.')
  const before = driver.executions().length
  await driver.advance(300_000, 1_000)
  expect(driver.executions()).toHaveLength(before)
  expect(problems(owner)).toEqual([expect.stringContaining('duelog unfence'), expect.stringContaining('duelog unfence')])
  await fence(system, partitions, { key: movedKey, value: null })
  await driver.advance(120_000, 1_000)
  expect(driver.executions().length).toBeGreaterThan(before)
  expect(problems(owner)).toEqual([null, null])
})
