/** Schedule calculations for readers: in pieces, in turn, within a time limit, and not for a caller that has disconnected. */
import { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import { expect, it } from 'vitest'
import { disconnectSignal } from '../../../src/api/http/disconnect-signal.ts'
import { ComputeQueue } from '../../../src/api/jobs/schedule-compute-queue.ts'
import { computationsWaitingMax } from '../../../src/api/schemas/limits.ts'
import { step } from '../../../streams/schedules/steps.ts'

/** A search that never ends; it calls `onPiece` for each piece. */
function* endless(onPiece: () => void = () => {}): Generator<void, never> {
  for (;;) {
    step(1_000)
    onPiece()
    yield
  }
}

const reply = (writableFinished: boolean) => {
  const raw = Object.assign(new EventEmitter(), { writableFinished })
  return { raw, signal: disconnectSignal({ raw } as unknown as FastifyReply) }
}

it('computations end when their caller disconnects, and the next caller gets its turn', async () => {
  const computeQueue = new ComputeQueue({ requestSteps: Number.POSITIVE_INFINITY })
  const { raw, signal } = reply(false)
  let pieces = 0
  const begun = Promise.withResolvers<void>()
  const asked = computeQueue.of({ caller: 'one', signal }).runAll(
    endless(() => {
      pieces++
      begun.resolve()
    }),
  )
  await begun.promise
  raw.emit('close')
  await expect(asked).rejects.toThrow(/closed the connection/)
  const last = pieces
  expect(await computeQueue.of().run(() => 1)).toBe(1)
  expect(pieces).toBe(last)
})

it('computations do not end when a connection closes after its answer', () => {
  const { raw, signal } = reply(true)
  raw.emit('close')
  expect(signal.aborted).toBe(false)
})

it('computations end when one request has used its steps, while others continue', async () => {
  const computeQueue = new ComputeQueue({ requestSteps: 100_000 })
  const dear = computeQueue.of().runAll(endless())
  const cheap = computeQueue.of()
  let answered = 0
  const others = (async () => {
    for (; answered < 3; answered++) await cheap.run(() => answered)
  })()
  await expect(dear).rejects.toMatchObject({ code: 'bad-request', message: /takes more than 100000 search steps/ })
  await others
  expect(answered).toBe(3)
})

it('computations give their result, however many pieces they take', async () => {
  function* sum(): Generator<void, number> {
    let total = 0
    for (let value = 1; value <= 1_000; value++) {
      total += value
      yield
    }
    return total
  }
  expect(await new ComputeQueue().of().runAll(sum())).toBe(500_500)
})

it('computations for writes pause only for searches, and still let others have their turn', async () => {
  const checks = new ComputeQueue({ restsAfter: 'searches' })
  let turns = 0
  const took = Promise.withResolvers<void>()
  const look = (): void => {
    if (++turns === 3) took.resolve()
    else setImmediate(look)
  }
  setImmediate(look)
  let isOver = false
  function* busy(): Generator<void, void> {
    while (!isOver) yield
  }
  const asked = checks.of().runAll(busy())
  await took.promise
  isOver = true
  await asked
})

it('callers take turns: a caller with thousands of requests delays nobody, and the newest of its requests are refused', async () => {
  const computeQueue = new ComputeQueue()
  const [many, few] = [computeQueue.of({ caller: 'many' }), computeQueue.of({ caller: 'few' })]
  const order: string[] = []
  const asked = Array.from({ length: computationsWaitingMax + 1 }, () =>
    many.run(() => void order.push('many')).catch(({ code }: { code: string }) => code),
  )
  await few.run(() => void order.push('few'))
  expect(order.length).toBeLessThanOrEqual(4)
  const refused = (await Promise.all(asked)).filter((answer) => answer !== undefined)
  expect(refused).toEqual(['overloaded'])
})

it('computations pause while the process is busy, and are refused if that takes too long, while the next caller gets its turn', async () => {
  let nowMs = 0
  let rests = 0
  const spare = {
    async rest() {
      rests++
      nowMs += 1_000
    },
  }
  const clock = { nowMs: () => nowMs, at: () => () => {} }
  const computeQueue = new ComputeQueue({ requestSteps: Number.POSITIVE_INFINITY, requestMs: 5_000, clock, spare })
  await expect(computeQueue.of().runAll(endless())).rejects.toMatchObject({ code: 'overloaded', message: /within 5 s/ })
  expect(rests).toBe(6)
  expect(await computeQueue.of().run(() => 1)).toBe(1)
})
