/** Cooperative members: a partition that one of them loses goes to nobody until that member has given it up. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { coPartitioned } from '../../../src/log/kafka/group/assignors.ts'
import { readUserData, userDataOf } from '../../../src/log/kafka/group/member-user-data.ts'

const topic = 'executions'

interface Worker {
  id: string
  isCooperative: boolean
  /** What it reads, and what it has lost and not given up. */
  reads: Set<number>
  revoking: Set<number>
  generation: number
}

const newWorker = (id: string, isCooperative: boolean): Worker => ({
  ...{ id, isCooperative, reads: new Set(), revoking: new Set(), generation: 0 },
})

/** One join of all, with the user data as they send it. */
function join(workers: readonly Worker[], count: number, generation: number): void {
  const roles = workers.map(({ id, isCooperative, reads, revoking, generation: known }) => {
    const options = { groupId: 'g', topics: [topic], instance: id, ...(isCooperative && { onRevoked: async () => {} }) }
    const data = userDataOf(options as never, new Map([[topic, [...reads]]]), known, revoking)
    return { memberId: id, topics: [topic], note: readUserData(id, Buffer.from(JSON.stringify(data))) }
  })
  const assignments = coPartitioned(roles, new Map([[topic, count]]))
  for (const worker of workers) {
    const assigned = new Set(assignments.get(worker.id)?.[topic])
    for (const lost of worker.reads) if (worker.isCooperative && !assigned.has(lost)) worker.revoking.add(lost)
    for (const partition of assigned) worker.revoking.delete(partition)
    worker.reads = assigned
    worker.generation = generation
  }
}

const holders = (workers: readonly Worker[], partition: number): Worker[] =>
  workers.filter(({ reads, revoking }) => reads.has(partition) || revoking.has(partition))

const change = fc.record({ kind: fc.constantFrom('join', 'leave', 'give-up', 'give-up-some'), who: fc.nat(5), odd: fc.boolean() })

test('two never hold a partition that a cooperative member has not given up; once all have, each has one reader, and shares are even', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.array(change, { maxLength: 25 }), (count, changes) => {
      let workers = [newWorker('w0', true)]
      let generation = 1
      let made = 1
      const assigned = (): void => {
        join(workers, count, generation++)
        for (let partition = 0; partition < count; partition++)
          expect(holders(workers, partition).length, `holders of ${partition}`).toBeLessThanOrEqual(1)
      }
      assigned()
      for (const { kind, who, odd } of changes) {
        const worker = workers[who % workers.length] as Worker
        if (kind === 'join' && workers.length < 6) workers.push(newWorker(`w${made++}`, true))
        else if (kind === 'leave' && workers.length > 1) workers = workers.filter((each) => each !== worker)
        else if (kind === 'give-up') worker.revoking.clear()
        else for (const partition of worker.revoking) if (partition % 2 === Number(odd)) worker.revoking.delete(partition)
        assigned()
      }
      // One join for what was lost, and one for what is free.
      for (let round = 0; round < 2; round++) {
        for (const worker of workers) worker.revoking.clear()
        assigned()
      }
      for (let partition = 0; partition < count; partition++) expect(holders(workers, partition)).toHaveLength(1)
      const sizes = workers.map(({ reads }) => reads.size)
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
    }),
    { numRuns: 300 },
  )
})

test('a partition of a member that is not cooperative, of one that has left, or of nobody, moves at once', () => {
  for (const isCooperative of [true, false]) {
    const [first, second] = [newWorker('a', isCooperative), newWorker('b', true)]
    join([first], 4, 1)
    expect(first.reads.size).toBe(4)
    join([first, second], 4, 2)
    expect([first.reads.size, second.reads.size]).toEqual([2, isCooperative ? 0 : 2])
    join([second], 4, 3)
    expect(second.reads.size).toBe(4)
  }
})

test('a partition that comes back to its last reader before it was given up is read by that one', () => {
  const [first, second] = [newWorker('a', true), newWorker('b', true)]
  join([first], 4, 1)
  join([first, second], 4, 2)
  expect(first.revoking.size).toBe(2)
  join([first], 4, 3)
  expect([first.reads.size, first.revoking.size]).toEqual([4, 0])
})
