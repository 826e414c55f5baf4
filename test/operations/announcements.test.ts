/** Operations that are announced to the owners before their walks, when owners move and fail: against an owner in memory. */
import { expect, it } from 'vitest'
import type { OperationRequest } from '../../schemas/generated.ts'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { AnnounceQuery, Changes } from '../../src/ground/ports/operations.ts'
import { LoopbackLog } from '../tools/loopback-log.ts'
import { rest } from '../tools/manual-clock.ts'
import { away, Bed, names, pauseAll } from './bed.ts'

/** A system with these partitions, of which an owner knows what it was told. */
function announcing(partitions: number, log = new LoopbackLog(partitions)) {
  const bed = new Bed(log, partitions)
  const told: (AnnounceQuery & { partition: number })[] = []
  const away = new Set<number>()
  bed.owner.announce = async (partition, query, asker) => {
    told.push({ partition, ...query })
    if (away.has(partition)) throw new DuelogError('not-ready', 'The owner moves.')
    if (query.waitMs > 0) {
      const { promise, reject } = Promise.withResolvers<never>()
      asker?.signal?.addEventListener('abort', () => reject(asker.signal?.reason))
      return promise
    }
    return { cutOff: { jobsOffset: 7, at: 5 }, isActive: true, ahead: partition }
  }
  return { bed, told, away }
}

it('all owners know a pause before the first job is changed and counted, and it says since when', async () => {
  const { bed, told, away } = announcing(3)
  away.add(2)
  const changed: number[] = []
  bed.owner.change = async (partition) => {
    changed.push(partition)
    return { changed: 5, refused: [] }
  }
  bed.operations.start()
  const { id, createdAt } = await bed.operations.create(pauseAll)
  while (told.length < 4) {
    await bed.clock.advance(500)
    await rest()
  }
  // Two know it, the third has no owner: it is asked again, and the operation waits.
  expect(told.slice(0, 3).map(({ partition }) => partition)).toEqual([0, 1, 2])
  expect([changed, bed.asked]).toEqual([[], []])
  expect((await bed.operations.get(id))?.progress?.effectiveAt ?? null).toBeNull()
  away.delete(2)
  const knownAtMs = bed.clock.nowMs()
  const { progress } = await bed.ended(id)
  expect(progress).toMatchObject({ status: 'DONE', total: 15, applied: 15 })
  expect(progress?.effectiveAt).toBeGreaterThanOrEqual(knownAtMs)
  expect(progress?.effectiveAt).toBeLessThanOrEqual(progress?.endedAt ?? 0)
  expect(changed.sort()).toEqual([0, 1, 2])
  for (const query of told)
    expect(query).toMatchObject({ action: 'PAUSE', filter: {}, commandId: `operation/${id}/pause`, createdAt, isOver: false })
  await bed.operations.stop()
})

it('an owner that loses its partition in the middle is followed by the next, which hears of it with cut-off and place', async () => {
  const { bed, told } = announcing(1)
  let leave: (error: DuelogError) => void = () => {}
  const answer = bed.owner.announce
  bed.owner.announce = (partition, query, asker) => {
    if (query.waitMs === 0) return answer(partition, query, asker)
    told.push({ partition, ...query })
    const { promise, reject } = Promise.withResolvers<never>()
    leave = reject
    return promise
  }
  let calls = 0
  bed.owner.change = async () => (++calls === 1 ? { changed: 2, refused: [], next: 'b' } : new Promise(() => {}))
  bed.operations.start()
  const { id } = await bed.operations.create(pauseAll)
  while (calls < 2) await rest()
  const before = told.length
  leave(away())
  while (told.length === before) {
    await bed.clock.advance(250)
    await rest()
  }
  expect(told[before]).toMatchObject({ after: 'b', cutOff: { jobsOffset: 7, at: 5 }, waitMs: 0, isOver: false })
  // Another process goes on: it tells the owners before it changes anything.
  const next = announcing(1, bed.log)
  next.bed.owner.change = async () => {
    expect(next.told[0]).toMatchObject({ after: 'b', cutOff: { jobsOffset: 7, at: 5 } })
    return { changed: 3, refused: [] }
  }
  next.bed.operations.start()
  expect((await next.bed.ended(id)).progress).toMatchObject({ status: 'DONE', applied: 5 })
  await next.bed.operations.stop()
})

it('a cancelled pause is over for all owners, and counts what they changed ahead', async () => {
  const { bed, told } = announcing(3)
  const answers: (() => void)[] = []
  bed.owner.change = () => new Promise((resolve) => answers.push(() => resolve({ changed: 1, refused: [], next: 'b' })))
  bed.operations.start()
  const { id } = await bed.operations.create(pauseAll)
  while (answers.length < 3) await rest()
  await bed.operations.cancel(id, null)
  while ((await bed.operations.get(id))?.cancel === undefined) await rest()
  for (let rounds = 0; rounds < 20; rounds++) await rest()
  for (const answer of answers) answer()
  expect((await bed.ended(id)).progress).toMatchObject({ status: 'CANCELLED', applied: 6 })
  const over = told.filter(({ isOver }) => isOver)
  expect(over.map(({ partition, after }) => [partition, after])).toEqual([
    [0, 'b'],
    [1, 'b'],
    [2, 'b'],
  ])
  await bed.operations.stop()
})

it('a cancelled pause does not count again what was changed ahead in a partition that is done', async () => {
  const { bed } = announcing(2)
  const answer = Promise.withResolvers<Changes>()
  bed.owner.change = async (partition) => (partition === 1 ? { changed: 5, refused: [] } : answer.promise)
  bed.operations.start()
  const { id } = await bed.operations.create(pauseAll)
  while ((await bed.operations.get(id))?.progress?.applied !== 5) await rest()
  await bed.operations.cancel(id, null)
  while ((await bed.operations.get(id))?.cancel === undefined) await rest()
  for (let rounds = 0; rounds < 20; rounds++) await rest()
  answer.resolve({ changed: 1, refused: [], next: 'b' })
  expect((await bed.ended(id)).progress).toMatchObject({ status: 'CANCELLED', applied: 6 })
  await bed.operations.stop()
})

it('a pause does not hold while an owner that knows it is still taking the partition over', async () => {
  const { bed, told } = announcing(1)
  let isActive = false
  bed.owner.announce = async (partition, query) => {
    told.push({ partition, ...query })
    return { cutOff: { jobsOffset: 7, at: 5 }, isActive, ahead: 0 }
  }
  bed.owner.change = (_partition, _query, asker) =>
    new Promise((_, reject) => asker?.signal?.addEventListener('abort', () => reject(asker.signal?.reason)))
  bed.operations.start()
  const { id } = await bed.operations.create(pauseAll)
  while (told.length < 3) {
    await bed.clock.advance(500)
    await rest()
  }
  expect((await bed.operations.get(id))?.progress?.effectiveAt).toBeNull()
  isActive = true
  const activeAtMs = bed.clock.nowMs()
  while ((await bed.operations.get(id))?.progress?.effectiveAt === null) {
    await bed.clock.advance(500)
    await rest()
  }
  expect((await bed.operations.get(id))?.progress?.effectiveAt).toBeGreaterThanOrEqual(activeAtMs)
  await bed.operations.stop()
})

const deleteAll: OperationRequest = { ...pauseAll, action: 'DELETE' }

it('a deletion is known to all owners before it is counted, and counts what they deleted ahead once, also if that is asked again', async () => {
  const { bed, told } = announcing(3)
  const known = bed.owner.announce
  let failures = 1
  bed.owner.announce = (partition, query, asker) => {
    if (query.isOver && partition === 1 && failures-- > 0) throw away()
    return known(partition, query, asker)
  }
  bed.owner.change = async () => expect.fail()
  const targets = bed.owner.targets
  bed.owner.targets = (partition, query, asker) => {
    expect(told.length).toBeGreaterThanOrEqual(3)
    return targets(partition, query, asker)
  }
  bed.operations.start()
  const { id } = await bed.operations.create(deleteAll)
  const { progress } = await bed.ended(id)
  // Five of each partition by tombstones, and as many ahead as its number says.
  expect(progress).toMatchObject({ status: 'DONE', total: 18, applied: 18, refused: 0 })
  expect(progress?.effectiveAt).toBeLessThan(progress?.endedAt ?? 0)
  for (const partition of [0, 1, 2]) {
    const records = bed.log.records(names.jobs, partition)
    expect([...new Set(records.map(({ key }) => String(key)))]).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(records.every(({ value }) => value === null)).toBe(true)
    // Only the definition that was listed: a later one wins.
    const conditions = records.map(({ key, headers }) => `${key} ${headers?.['only-over']}`)
    expect([...new Set(conditions)]).toEqual(['a 0', 'b 1', 'c 2', 'd 3', 'e 4'])
    const of = told.filter((query) => query.partition === partition)
    expect(of[0]).toMatchObject({ action: 'DELETE', commandId: `operation/${id}/delete`, isOver: false })
    expect(of.filter(({ isOver }) => isOver)).toMatchObject([{ cutOff: { jobsOffset: 7, at: 5 }, waitMs: 0 }])
  }
  await bed.operations.stop()
})

it('an owner that takes over while tombstones are written hears which jobs are listed and counted', async () => {
  const { bed, told } = announcing(1)
  let leave: (error: DuelogError) => void = () => {}
  const answer = bed.owner.announce
  bed.owner.announce = (partition, query, asker) => {
    if (query.waitMs === 0) return answer(partition, query, asker)
    const { promise, reject } = Promise.withResolvers<never>()
    leave = reject
    return promise
  }
  bed.owner.applied = () => new Promise(() => {})
  bed.operations.start()
  await bed.operations.create(deleteAll)
  while (bed.log.records(names.jobs, 0).length < 2) await rest()
  const before = told.length
  leave(away())
  while (told.length === before) {
    await bed.clock.advance(250)
    await rest()
  }
  expect(told[before]).toMatchObject({ listed: 'b', isOver: false })
  expect(told[before]).not.toHaveProperty('after')
})

it('a deletion of jobs that do not fire, or by list, goes on by tombstones alone', async () => {
  for (const [more, count] of [
    [{ status: 'PAUSED' }, 5],
    [{ jobIds: ['a', 'b'] }, 2],
  ] as const) {
    const bed = new Bed()
    bed.owner.announce = async () => expect.fail()
    bed.operations.start()
    const { id } = await bed.operations.create({ ...deleteAll, ...more, jobIds: 'jobIds' in more ? [...more.jobIds] : null })
    const { progress } = await bed.ended(id)
    expect(progress).toMatchObject({ status: 'DONE', total: count, applied: count, refused: 0 })
    expect(progress?.effectiveAt).toBe(progress?.endedAt)
    await bed.operations.stop()
  }
})
