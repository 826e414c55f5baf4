/** What an operation writes to the log, page by page, when writes and owners fail: against an owner in memory. */
import { expect, it } from 'vitest'
import type { OperationProgress, OperationRequest } from '../../schemas/generated.ts'
import type { RecordIn } from '../../src/ground/ports/log.ts'
import type { ChangeQuery, Target, TargetQuery } from '../../src/ground/ports/operations.ts'
import { OperationRecords } from '../../src/server/operations/operation-records.ts'
import type { AskedOwner } from '../../src/server/operations/options.ts'
import { Selection } from '../../src/server/operations/target-pages.ts'
import { keyPartitionOf } from '../../streams/topics/topics.ts'
import { rest } from '../tools/manual-clock.ts'
import { away, Bed, codecs, limits, names, pauseAll, pauseListed } from './bed.ts'

it('a page whose answer was lost is written again with the same commandIds, and counted once', async () => {
  const bed = new Bed()
  let failures = 2
  const awaited: object[] = []
  bed.owner.applied = async (_partition, offsets) => {
    awaited.push(offsets)
    if (failures-- > 0) throw away()
    return true
  }
  bed.operations.start()
  const { id } = await bed.operations.create(pauseListed)
  const { progress } = await bed.ended(id)
  expect(progress).toMatchObject({ status: 'DONE', total: 5, applied: 5, refused: 0, problem: null })
  expect(bed.keys()).toEqual(['a', 'b', 'a', 'b', 'a', 'b', 'c', 'd', 'e'])
  // Until the last change of each write.
  expect(awaited).toEqual([1, 3, 5, 7, 8].map((commands) => ({ commands })))
  const commands = bed.commands()
  expect(new Set(commands.map(({ commandId }) => commandId)).size).toBe(1)
  expect(commands[0]).toMatchObject({ type: 'PAUSE', actor: 'anna', runNo: null, discard: false })
  await bed.operations.stop()
})

it('another process goes on with the page that may be written, and with the same cut-off', async () => {
  const bed = new Bed()
  // The driver dies here: its page is written, and nobody hears of its end.
  bed.owner.applied = () => new Promise(() => {})
  bed.operations.start()
  const { id } = await bed.operations.create(pauseListed)
  while (bed.keys().length < 2) await rest()
  const next = new Bed(bed.log)
  // The owner has paused them.
  next.targets = next.targets.filter((target) => target.id > 'b')
  next.operations.start()
  const { progress } = await next.ended(id)
  expect(progress).toMatchObject({ status: 'DONE', total: 5, applied: 5 })
  expect(bed.keys()).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(next.asked.map(({ after, until, cutOff }) => ({ after, until, cutOff }))).toEqual([
    { after: undefined, until: 'b', cutOff: { jobsOffset: 7, at: 5 } },
    { after: 'b', until: undefined, cutOff: { jobsOffset: 7, at: 5 } },
    { after: 'd', until: undefined, cutOff: { jobsOffset: 7, at: 5 } },
  ])
  await next.operations.stop()
})

it('an owner that changes the jobs itself is asked from where it stopped, and after a lost answer or a crash as a repeat', async () => {
  const bed = new Bed()
  const asked: ChangeQuery[] = []
  const failing = new Set([2])
  let answers = 0
  const change =
    (hangsAt: number): AskedOwner['change'] =>
    async (_partition, query) => {
      asked.push(query)
      if (failing.delete(asked.length)) throw away()
      if (asked.length === hangsAt) return new Promise(() => {})
      answers++
      const refused = [{ code: 'expired', reason: 'Over.', count: 1, example: 'b' }]
      if (query.after === undefined) return { changed: 1, refused, next: 'b' }
      return query.after === 'b' ? { changed: 2, refused: [], next: 'd' } : { changed: 1, refused }
    }
  bed.owner.change = change(4)
  bed.operations.start()
  const { id } = await bed.operations.create(pauseAll)
  // The second call fails, and its repeat is answered; the driver dies in the call after it.
  while (asked.length < 4) {
    await bed.clock.advance(500)
    await rest()
  }
  const next = new Bed(bed.log)
  next.owner.change = change(-1)
  next.operations.start()
  const { progress } = await next.ended(id)
  expect(progress).toMatchObject({
    status: 'DONE',
    applied: 4,
    refused: 2,
    reasons: [{ code: 'expired', count: 2, example: 'b' }],
  })
  expect(answers).toBe(3)
  expect(asked.map(({ after, isRepeat }) => [after, isRepeat])).toEqual([
    [undefined, false],
    ['b', false],
    ['b', true],
    ['d', true],
    ['d', true],
  ])
  for (const query of asked)
    expect(query).toMatchObject({ action: 'PAUSE', commandId: `operation/${id}/pause`, cutOff: { jobsOffset: 7, at: 5 } })
  expect(bed.commands()).toEqual([])
  await next.operations.stop()
})

it('dead runs are redriven as their jobs have room, and each once', async () => {
  const bed = new Bed()
  bed.targets = [
    { id: 'a', offset: 1, runs: [1, 2, 3], room: 1 },
    { id: 'b', offset: 2, runs: [4], room: 5 },
  ]
  bed.owner.applied = async () => {
    const redriven = new Set(bed.commands().map(({ runNo }) => runNo))
    const rest = bed.targets.map((target) => ({ ...target, runs: (target.runs ?? []).filter((runNo) => !redriven.has(runNo)) }))
    bed.targets = rest.filter(({ runs }) => runs.length > 0)
    return true
  }
  bed.operations.start()
  const { id } = await bed.operations.create({ ...pauseAll, action: 'REDRIVE' })
  expect((await bed.ended(id)).progress).toMatchObject({ status: 'DONE', total: 4, applied: 4, refused: 0 })
  expect(bed.commands().map(({ runNo }) => runNo)).toEqual([1, 4, 2, 3])
  expect(new Set(bed.commands().map(({ commandId }) => commandId)).size).toBe(4)
  await bed.operations.stop()
})

it('dead runs that get room one after another are all redriven, however many rounds that takes', async () => {
  const bed = new Bed()
  const runs = Array.from({ length: 30 }, (_, index) => index + 1)
  bed.targets = [{ id: 'a', offset: 1, runs, room: 1 }]
  bed.owner.applied = async () => {
    const left = runs.slice(bed.commands().length)
    bed.targets = left.length === 0 ? [] : [{ id: 'a', offset: 1, runs: left, room: 1 }]
    return true
  }
  bed.operations.start()
  const { id } = await bed.operations.create({ ...pauseAll, action: 'REDRIVE' })
  expect((await bed.ended(id)).progress).toMatchObject({ status: 'DONE', applied: 30, refused: 0 })
  await bed.operations.stop()
})

it('a cancellation lets the page that is being written end, and counts it', async () => {
  const bed = new Bed()
  const answers: ((isApplied: boolean) => void)[] = []
  bed.owner.applied = () => new Promise((resolve) => answers.push(resolve))
  bed.operations.start()
  const { id } = await bed.operations.create(pauseListed)
  while (answers.length < 1) await rest()
  await bed.operations.cancel(id, null)
  while ((await bed.operations.get(id))?.cancel === undefined) await rest()
  answers[0]?.(false)
  for (let rounds = 0; rounds < 50 && answers.length < 2; rounds++) await rest()
  answers[1]?.(true)
  expect((await bed.ended(id)).progress).toMatchObject({ status: 'CANCELLED', applied: 2 })
  expect(bed.keys()).toEqual(['a', 'b'])
  await bed.operations.stop()
})

it('an operation that cannot end fails at its time limit', async () => {
  const bed = new Bed(undefined, 1, { operationMsMax: 10_000 })
  const answered = Promise.withResolvers<boolean>()
  bed.owner.applied = () => answered.promise
  bed.operations.start()
  const { id, createdAt } = await bed.operations.create(pauseListed)
  while (bed.keys().length < 2) await rest()
  const { progress } = await bed.ended(id)
  expect(progress).toMatchObject({ status: 'FAILED', problem: expect.stringContaining('time limit') })
  expect((progress?.endedAt ?? 0) - createdAt).toBeGreaterThanOrEqual(10_000)
  answered.resolve(false)
  await bed.operations.stop()
})

it('the last operations that have ended are kept, and no more than the limit', async () => {
  const bed = new Bed()
  bed.operations.start()
  const ids: string[] = []
  for (let count = 0; count < 4; count++) {
    ids.push((await bed.operations.create(pauseAll)).id)
    await bed.ended(ids.at(-1) ?? '')
    await bed.clock.advance(1_000)
  }
  await bed.clock.advance(600_000)
  for (let rounds = 0; rounds < 50; rounds++) await rest()
  expect((await bed.operations.list()).map(({ id }) => id)).toEqual(ids.slice(2).reverse())
  await bed.operations.stop()
})

it('active runs are cancelled by their numbers', async () => {
  const bed = new Bed()
  bed.targets = [{ id: 'a', offset: 1, runs: [3, 4] }]
  bed.operations.start()
  const { id } = await bed.operations.create({ ...pauseAll, action: 'CANCEL_RUN', runStatus: 'RETRY_WAIT' })
  expect((await bed.ended(id)).progress).toMatchObject({ status: 'DONE', applied: 2, refused: 0 })
  expect(bed.commands().map(({ type, runNo, discard }) => [type, runNo, discard])).toEqual([
    ['CANCEL_RUN', 3, false],
    ['CANCEL_RUN', 4, false],
  ])
  expect(bed.asked.every(({ filter }) => filter?.runStatus === 'RETRY_WAIT')).toBe(true)
  await bed.operations.stop()
})

it('a trigger with a payload sends each job a command with it, in the form that its media type takes', async () => {
  const bed = new Bed()
  // Owners change jobs themselves, but not with a payload.
  bed.owner.change = async () => expect.fail()
  bed.owner.announce = async () => expect.fail()
  const targets: Target[] = [null, 'application/json', 'application/vnd.x+json', 'text/plain', 'text/csv'].map(
    (contentType, offset) => ({ id: `job-${offset}`, offset, contentType }),
  )
  bed.targets = targets
  bed.operations.start()
  const send = async (payload: string, payloadIsJson: boolean) => {
    const before = bed.keys().length
    const request = { ...pauseAll, action: 'TRIGGER', payload: Buffer.from(payload), payloadIsJson }
    const { progress } = await bed.ended((await bed.operations.create(request)).id)
    const payloads = bed.commands().slice(before)
    expect(payloads.every(({ type, actor }) => type === 'TRIGGER' && actor === 'anna')).toBe(true)
    return { progress, sent: payloads.map(({ payload: bytes }) => bytes?.toString()) }
  }
  const text = await send('"north"', true)
  expect(text.sent).toEqual(['"north"', '"north"', '"north"', 'north', 'north'])
  expect(text.progress).toMatchObject({ status: 'DONE', total: 5, applied: 5, refused: 0 })
  const object = await send('{"region": 1e400}', true)
  expect(object.sent).toEqual(Array(3).fill('{"region": 1e400}'))
  expect(object.progress).toMatchObject({ status: 'DONE', total: 5, applied: 3, refused: 2 })
  expect(object.progress?.reasons).toEqual([
    { code: 'payload-type', count: 2, example: 'job-3', reason: expect.stringContaining('payloadBase64') },
  ])
  expect((await send('{', false)).sent).toEqual(Array(5).fill('{'))
  // Whoever may write to the topic may write this.
  expect((await send('{', true)).sent).toEqual(Array(3).fill('{'))
  await bed.operations.stop()
})

it('a trigger with a payload has only some payloads in memory at once', async () => {
  const bed = new Bed()
  bed.targets = Array.from({ length: 300 }, (_, offset) => ({ id: `a-${offset}`, offset, contentType: null }))
  const cutOff = { jobsOffset: 7, at: 5 }
  bed.owner.targets = async (_partition, { after }) =>
    after === undefined ? { targets: bed.targets, count: 300, cutOff } : { targets: [], count: 0, cutOff }
  bed.operations.start()
  const payload = Buffer.alloc(2_000, 'x')
  const { id } = await bed.operations.create({ ...pauseAll, action: 'TRIGGER', payload })
  const { progress } = await bed.ended(id)
  expect(progress).toMatchObject({ status: 'DONE', applied: 300, refused: 0 })
  expect(bed.commands().map(({ payload: bytes }) => bytes?.length)).toEqual(Array(300).fill(2_000))
  expect(Math.max(...bed.writes)).toBeLessThan(100)
  await bed.operations.stop()
})

it('too many at once are refused, a repeated key is the same one, and lists that fit in no record are refused', async () => {
  const bed = new Bed()
  const first = await bed.operations.create(pauseAll, 'key')
  expect((await bed.operations.create(pauseAll, 'key')).id).toBe(first.id)
  expect((await bed.operations.create({ ...pauseAll, actor: 'bert' }, 'key')).id).not.toBe(first.id)
  await expect(bed.operations.create(pauseAll)).rejects.toMatchObject({ code: 'overloaded' })
  expect(await bed.operations.list()).toHaveLength(2)
  expect(await bed.operations.cancel('nobody', null)).toBeUndefined()
  // Cancelled before anything began, it ends without a change.
  await bed.operations.cancel(first.id, 'bert')
  bed.operations.start()
  expect((await bed.ended(first.id)).progress).toMatchObject({ status: 'CANCELLED', applied: 0 })
  const jobIds = Array.from({ length: 500 }, (_, index) => `a-job-with-a-long-id-${index}`)
  await expect(bed.operations.create({ ...pauseAll, jobIds })).rejects.toMatchObject({ code: 'payload-too-large' })
  await bed.operations.stop()
})

it('one caller fills its share only, also with many requests at once, and there is room to stop work', async () => {
  const bed = new Bed(undefined, 1, { operationsActiveMax: 100, operationsPerCallerMax: 50, operationsReserved: 10 })
  const many = async (actor: string, action: string, count: number) => {
    const asked = Array.from({ length: count }, () =>
      bed.operations.create({ ...pauseAll, actor, action }).then(
        () => 'taken',
        ({ code }) => code,
      ),
    )
    const counts: Record<string, number> = {}
    for (const code of await Promise.all(asked)) counts[code] = (counts[code] ?? 0) + 1
    return counts
  }
  expect(await many('anna', 'RESUME', 200)).toEqual({ taken: 40, 'too-many-requests': 160 })
  expect(await many('anna', 'PAUSE', 20)).toEqual({ taken: 10, 'too-many-requests': 10 })
  expect(await many('bert', 'RESUME', 200)).toEqual({ taken: 40, 'too-many-requests': 160 })
  // The last places: for callers that have none, and to stop work.
  expect(await many('carl', 'RESUME', 5)).toEqual({ taken: 1, overloaded: 4 })
  expect(await many('carl', 'PAUSE', 20)).toEqual({ taken: 9, overloaded: 11 })
  expect(await bed.operations.list()).toHaveLength(100)
  await bed.operations.stop()
})

it('a write that fails takes no place', async () => {
  const bed = new Bed()
  const jobIds = Array.from({ length: 500 }, (_, index) => `a-job-with-a-long-id-${index}`)
  for (let count = 0; count < 5; count++)
    await expect(bed.operations.create({ ...pauseAll, jobIds })).rejects.toMatchObject({ code: 'payload-too-large' })
  await bed.operations.create(pauseAll)
  await bed.operations.stop()
})

it('the operations of one caller leave room for one of another', async () => {
  const bed = new Bed(undefined, 1, { operationsActiveMax: 100, operationsPerCallerMax: 50 })
  const { targets } = bed.owner
  const opened = Promise.withResolvers<void>()
  let held = 0
  bed.owner.targets = async (...args) => {
    held++
    await opened.promise
    return targets(...args)
  }
  bed.operations.start()
  for (let count = 0; count < 6; count++) await bed.operations.create(pauseListed)
  while (held < 3) await rest()
  for (let count = 0; count < 20; count++) await rest()
  expect(held).toBe(3)
  const { id } = await bed.operations.create({ ...pauseListed, actor: 'bert' })
  while (held < 4) await rest()
  opened.resolve()
  expect((await bed.ended(id)).progress?.status).toBe('DONE')
  for (const operation of await bed.operations.list()) await bed.ended(operation.id)
  await bed.operations.stop()
})

it('records of others on the topic, and actions of later versions, are passed over', async () => {
  const bed = new Bed()
  const put = (key: string | null, value: Buffer | null) => bed.log.append({ topic: names.operations, partition: 0, key, value })
  const record = (id: string, request: OperationRequest) =>
    put(`${id}/request`, codecs.operation.encode({ id, at: 1, request, progress: null, cancel: null }))
  put(null, Buffer.from('?'))
  put('x/request', Buffer.from('no json'))
  put('x/progress', null)
  record('later', { ...pauseAll, action: 'EXPLODE' })
  put('y/request', codecs.operation.encode({ id: 'z', at: 1, request: pauseAll, progress: null, cancel: null }))
  bed.operations.start()
  const { id } = await bed.operations.create(pauseListed)
  expect((await bed.ended(id)).progress).toMatchObject({ status: 'DONE', applied: 5 })
  expect((await bed.operations.list()).map((operation) => operation.id).sort()).toEqual([id, 'later'].sort())
  expect((await bed.operations.get('later'))?.progress).toBeUndefined()
  // They take no place of others.
  for (let index = 0; index < limits.operationsActiveMax; index++) record(`later-${index}`, { ...pauseAll, action: 'EXPLODE' })
  await bed.ended((await bed.operations.create(pauseListed)).id)
  // A process that has not heard of the end writes its own progress.
  const progress = {
    ...((await bed.operations.get(id))?.progress as OperationProgress),
    status: 'RUNNING',
    endedAt: null,
    parts: [],
  }
  put(`${id}/progress`, codecs.operation.encode({ id, at: 2, request: null, progress, cancel: null }))
  expect((await bed.operations.get(id))?.progress?.status).toBe('DONE')
  await rest()
  expect(bed.keys()).toEqual(['a', 'b', 'c', 'd', 'e', 'a', 'b', 'c', 'd', 'e'])
  await bed.operations.stop()
})

it('an owner that stops before the last id of a list is asked for the rest', async () => {
  const asked: (string | undefined)[] = []
  const request = { ...pauseAll, action: 'DISCARD' as const, runIds: ['a/1', 'b/1', 'c/1'] }
  const selection = new Selection('x', request, 1)
  const owner = {
    targets: async (_partition: number, { ids = [], cutOff = { jobsOffset: 0, at: 0 } }: TargetQuery) => {
      asked.push(ids.join())
      const [id = ''] = ids
      return { targets: [{ id, offset: 0, runs: [1] }], count: 1, cutOff, ...(ids.length > 1 && { next: id }) }
    },
  } as unknown as AskedOwner
  expect(await selection.count((question) => question(owner), 0, { jobsOffset: 0, at: 0 })).toBe(3)
  expect(asked).toEqual(['a,b,c', 'b,c', 'c'])
})

it('a record in another partition than that of its operation is passed over', async () => {
  const passedOver: string[] = []
  const records = new OperationRecords({ codec: codecs.operation, names, partitions: 2 }, (_, problem) =>
    passedOver.push(problem),
  )
  const value = codecs.operation.encode({ id: 'o', at: 1, request: pauseAll, progress: null, cancel: null })
  const record = { topic: names.operations, offset: 0, timestampMs: 1, key: Buffer.from('o/request'), value, headers: {} }
  const its = keyPartitionOf('o', 2)
  expect(await records.take({ ...record, partition: 1 - its } as RecordIn)).toBeUndefined()
  expect([records.all(), passedOver]).toEqual([[], ['its key is not an operation of this partition']])
  expect(await records.take({ ...record, partition: its } as RecordIn)).toMatchObject({ id: 'o' })
})
