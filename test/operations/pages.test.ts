/** What an operation writes to the log, page by page, when writes and owners fail: against an owner in memory. */
import { pino } from 'pino'
import { expect, it } from 'vitest'
import type { JobCommand, OperationProgress, OperationRecord, OperationRequest } from '../../schemas/generated.ts'
import { DuelogError } from '../../src/errors/errors.ts'
import { createOperations } from '../../src/operations/operations.ts'
import type { AskedOwner } from '../../src/operations/options.ts'
import type { AnnounceQuery, ChangeQuery, Target, TargetQuery } from '../../src/ports/change-targets.ts'
import type { Codec, RecordOut } from '../../src/ports/log.ts'
import type { Operation } from '../../src/ports/operations.ts'
import { topicNames } from '../../streams/topics/topics.ts'
import { LoopbackLog } from '../tools/loopback-log.ts'
import { ManualClock, rest, VirtualTime } from '../tools/manual-clock.ts'

const names = topicNames('test.')
const codec = <Value>(): Codec<Value> => ({
  encode: (value) => Buffer.from(JSON.stringify(value)),
  decode: (bytes) =>
    JSON.parse(bytes.toString(), (_name, value) => (value?.type === 'Buffer' ? Buffer.from(value.data) : value)) as Value,
})
const codecs = { command: codec<JobCommand>(), operation: codec<OperationRecord>() }
const nothing = {
  jobIds: null,
  runIds: null,
  tag: null,
  handler: null,
  status: null,
  idPrefix: null,
  idContains: null,
  runStatus: null,
  payload: null,
  payloadIsJson: false,
}
const pauseAll: OperationRequest = { action: 'PAUSE', ...nothing, actor: 'anna' }
const limits = {
  ...{ operationsActiveMax: 2, operationsKeptMax: 2, operationsKeptMs: 3_600_000, operationMsMax: 86_400_000 },
  ...{ operationsCaughtUpMs: 5_000, recordBytesMax: 10_000 },
}

/** One partition whose owner has these targets, in pages of two. */
class Bed {
  readonly clock = new ManualClock(new VirtualTime())
  readonly log: LoopbackLog
  readonly asked: TargetQuery[] = []
  /** Number of records of each write. */
  readonly writes: number[] = []
  targets: Target[] = ['a', 'b', 'c', 'd', 'e'].map((id, offset) => ({ id, offset }))
  /** Refuses a question while it is set. */
  away: DuelogError | undefined
  readonly owner: AskedOwner = {
    targets: async (_partition, query) => {
      this.asked.push(query)
      if (this.away !== undefined) throw this.away
      const { after = '', until = '\uffff', limit, countOnly = false, cutOff = { jobsOffset: 7, at: 5 } } = query
      const found = limit === 0 ? [] : this.targets.filter(({ id }) => id > after && id <= until)
      const page = countOnly ? found : found.slice(0, 2)
      const count = page.reduce((sum, { runs }) => sum + (runs?.length ?? 1), 0)
      const next = page.length < found.length ? page.at(-1)?.id : undefined
      return { targets: countOnly ? [] : page, count, cutOff, ...(next !== undefined && { next }) }
    },
    // As an owner of an earlier version, which changes nothing itself.
    change: async () => {
      throw new DuelogError('not-found', 'There is no such route.')
    },
    announce: async () => {
      throw new DuelogError('not-found', 'There is no such route.')
    },
    applied: async () => true,
    why: async () => ({ status: 'ACTIVE', reasons: [] }),
    job: async () => undefined,
  }
  readonly operations

  constructor(log = new LoopbackLog(1), partitions = 1) {
    this.log = log
    this.log.nowMs = () => this.clock.nowMs()
    const writer = {
      write: async (records: RecordOut[]) => {
        this.writes.push(records.length)
        return (await this.log.writer()).write(records)
      },
      close: async () => {},
    }
    this.operations = createOperations(
      {
        ...{ log: this.log, codecs, names, partitions, instance: 'api@test:1:a', clock: this.clock, limits },
        admin: {
          offsets: async (topic) =>
            Array.from({ length: partitions }, (_, partition) => ({
              ...{ partition, earliest: 0, next: this.log.records(topic, partition).length },
            })),
        },
        owners: { ask: async (_partition, question) => question(this.owner) },
        logger: pino({ level: 'silent' }),
      },
      writer,
    )
  }

  /** Resolves with the operation when it has ended. */
  async ended(id: string): Promise<Operation> {
    for (;;) {
      const operation = await this.operations.get(id)
      if (operation?.progress?.endedAt != null) return operation
      await this.clock.advance(500)
      await rest()
    }
  }

  commands(): JobCommand[] {
    return this.log.records(names.commands, 0).map(({ value }) => codecs.command.decode(value as Buffer) as JobCommand)
  }
  keys(): string[] {
    return this.log.records(names.commands, 0).map(({ key }) => String(key))
  }
}

const away = () => new DuelogError('not-ready', 'The owner moves.')

it('a page whose answer was lost is written again with the same commandIds, and counted once', async () => {
  const bed = new Bed()
  let failures = 2
  bed.owner.applied = async () => {
    if (failures-- > 0) throw away()
    return true
  }
  bed.operations.start()
  const { id } = await bed.operations.create(pauseAll)
  const { progress } = await bed.ended(id)
  expect(progress).toMatchObject({ status: 'DONE', total: 5, applied: 5, refused: 0, problem: null })
  expect(bed.keys()).toEqual(['a', 'b', 'a', 'b', 'a', 'b', 'c', 'd', 'e'])
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
  const { id } = await bed.operations.create(pauseAll)
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
    const of = told.filter((query) => query.partition === partition)
    expect(of[0]).toMatchObject({ action: 'DELETE', commandId: `operation/${id}/delete`, isOver: false })
    expect(of.filter(({ isOver }) => isOver)).toMatchObject([{ cutOff: { jobsOffset: 7, at: 5 }, waitMs: 0 }])
  }
  await bed.operations.stop()
})

it('a deletion of jobs that do not fire, by list, or with owners of an earlier version, goes on by tombstones alone', async () => {
  for (const [more, mayAsk, count] of [
    [{ status: 'PAUSED' }, false, 5],
    [{ jobIds: ['a', 'b'] }, false, 2],
    [{}, true, 5],
  ] as const) {
    const bed = new Bed()
    bed.owner.announce = async () => {
      if (!mayAsk) expect.fail()
      throw new DuelogError('bad-request', 'action is "DELETE"; allowed: PAUSE, RESUME.')
    }
    bed.operations.start()
    const { id } = await bed.operations.create({ ...deleteAll, ...more, jobIds: 'jobIds' in more ? [...more.jobIds] : null })
    const { progress } = await bed.ended(id)
    expect(progress).toMatchObject({ status: 'DONE', total: count, applied: count, refused: 0 })
    expect(progress?.effectiveAt).toBe(progress?.endedAt)
    await bed.operations.stop()
  }
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

it('active runs are cancelled by their numbers, and an owner that lists none of them cancels no job', async () => {
  const bed = new Bed()
  bed.targets = [
    { id: 'a', offset: 1, runs: [3, 4] },
    { id: 'b', offset: 2 },
  ]
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
    const request = { ...pauseAll, action: 'TRIGGER_WITH_PAYLOAD', payload: Buffer.from(payload), payloadIsJson }
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

it('a trigger with a payload waits for an owner that knows media types, and has only some payloads in memory at once', async () => {
  const bed = new Bed()
  bed.targets = Array.from({ length: 300 }, (_, offset) => ({ id: `a-${offset}`, offset }))
  const cutOff = { jobsOffset: 7, at: 5 }
  bed.owner.targets = async (_partition, { after }) =>
    after === undefined ? { targets: bed.targets, count: 300, cutOff } : { targets: [], count: 0, cutOff }
  bed.operations.start()
  const payload = Buffer.alloc(2_000, 'x')
  const { id } = await bed.operations.create({ ...pauseAll, action: 'TRIGGER_WITH_PAYLOAD', payload })
  while ((await bed.operations.get(id))?.progress?.problem == null) await rest()
  expect((await bed.operations.get(id))?.progress?.problem).toMatch(/earlier version/)
  expect(bed.commands()).toEqual([])
  bed.targets = bed.targets.map((target) => ({ ...target, contentType: null }))
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
  const { id } = await bed.operations.create(pauseAll)
  expect((await bed.ended(id)).progress).toMatchObject({ status: 'DONE', applied: 5 })
  expect((await bed.operations.list()).map((operation) => operation.id).sort()).toEqual([id, 'later'].sort())
  expect((await bed.operations.get('later'))?.progress).toBeUndefined()
  // They take no place of others.
  for (let index = 0; index < limits.operationsActiveMax; index++) record(`later-${index}`, { ...pauseAll, action: 'EXPLODE' })
  await bed.ended((await bed.operations.create(pauseAll)).id)
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
