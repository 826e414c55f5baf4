import { describe, expect, test } from 'vitest'
import { makeTopics, openLog, openThroughProxy, openTransactional, openWriter, text, Watcher } from '../harness.ts'

describe('a reader', () => {
  test('starts where onAssigned says, and does not fetch paused partitions until they are resumed', async () => {
    const { jobs } = await makeTopics(['jobs'], 2)
    const writer = await openWriter()
    for (const partition of [0, 1])
      await writer.write(['a', 'b', 'c'].map((key) => ({ topic: jobs, partition, key, value: text(`${partition}${key}`) })))
    const watcher = new Watcher({
      topics: [jobs],
      onAssigned: () => ({
        positions: [{ topic: jobs, partition: 0, offset: 2 }],
        paused: [{ topic: jobs, partition: 1 }],
      }),
    })
    await watcher.reader.start()
    await watcher.until(() => watcher.values.length === 1)
    // Two heartbeats mean at least one empty fetch, so the paused partition could have been read.
    await watcher.reader.nextHeartbeat()
    await watcher.reader.nextHeartbeat()
    expect(watcher.values).toEqual(['0c'])
    watcher.reader.resume([{ topic: jobs, partition: 1 }])
    await watcher.until(() => watcher.values.length === 4)
    expect(watcher.values).toEqual(['0c', '1a', '1b', '1c'])
  })

  test('delivers records as they were written', async () => {
    const { jobs } = await makeTopics(['jobs'], 1, { 'message.timestamp.type': 'LogAppendTime' })
    const before = Date.now()
    const writer = await openWriter()
    await writer.write([
      { topic: jobs, key: 'a', value: text('v'), headers: { one: 'eins', two: Buffer.from([0, 255]) } },
      { topic: jobs, key: 'b', value: null },
      { topic: jobs, partition: 0, key: null, value: text('') },
    ])
    const watcher = new Watcher({ topics: [jobs] })
    await watcher.reader.start()
    await watcher.until(() => watcher.records.length === 3)
    const [first, second, third] = watcher.records
    expect(first).toMatchObject({ topic: jobs, partition: 0, offset: 0, key: text('a'), value: text('v') })
    expect(first?.headers).toEqual({ one: text('eins'), two: Buffer.from([0, 255]) })
    expect(first?.timestampMs).toBeGreaterThanOrEqual(before - 60_000)
    expect(second).toMatchObject({ offset: 1, key: text('b'), value: null, headers: {} })
    expect(third).toMatchObject({ offset: 2, key: null, value: text('') })
    expect(watcher.batches[0]?.highWatermark).toBe(3)
  })

  test('sees neither open nor aborted transactions, and still knows the end of the log', async () => {
    const { state } = await makeTopics(['state'])
    const writer = await openTransactional(state)
    await writer.commit([{ topic: state, partition: 0, key: 'a', value: text('1') }])
    await writer.commit([{ topic: state, partition: 0, key: 'a', value: text('2') }])
    const watcher = new Watcher({ topics: [state] })
    await watcher.reader.start()
    await watcher.until(() => watcher.records.length === 2)
    expect(watcher.records.map(({ offset }) => offset)).toEqual([0, 2])
    expect(watcher.batches.at(-1)).toMatchObject({ highWatermark: 4, next: 4 })
  })

  test('delivers again from where a batch sought', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const writer = await openWriter()
    await writer.write(['a', 'b', 'c'].map((value) => ({ topic: jobs, key: 'k', value: text(value) })))
    let first = true
    const watcher: Watcher = new Watcher({
      topics: [jobs],
      onBatch: () => {
        if (first) watcher.reader.seek({ topic: jobs, partition: 0, offset: 1 })
        first = false
      },
    })
    await watcher.reader.start()
    await watcher.until(() => watcher.values.length === 5)
    expect(watcher.values).toEqual(['a', 'b', 'c', 'b', 'c'])
  })

  test('can pause, seek back and resume from within a batch', async () => {
    const { retry } = await makeTopics(['retry'])
    const writer = await openWriter()
    await writer.write(['early'].map((value) => ({ topic: retry, key: 'k', value: text(value) })))
    const place = { topic: retry, partition: 0 }
    const watcher: Watcher = new Watcher({
      topics: [retry],
      onBatch: () => {
        watcher.reader.pause([place])
        watcher.reader.seek({ ...place, offset: 0 })
      },
    })
    await watcher.reader.start()
    await watcher.until(() => watcher.values.length === 1)
    await watcher.reader.nextHeartbeat()
    await watcher.reader.nextHeartbeat()
    expect(watcher.values).toEqual(['early'])
    watcher.reader.resume([place])
    await watcher.until(() => watcher.values.length === 2)
    expect(watcher.records.map(({ offset }) => offset)).toEqual([0, 0])
  })

  test('keeps its session while a batch waits, and continues to fetch afterwards', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const writer = await openWriter()
    await writer.write([{ topic: jobs, key: 'a', value: text('1') }])
    const gate = Promise.withResolvers<void>()
    const watcher = new Watcher({ topics: [jobs], onBatch: () => gate.promise }, openLog({ heartbeatIntervalMs: 100 }))
    await watcher.reader.start()
    await watcher.until(() => watcher.records.length === 1)
    for (let beats = 0; beats < 5; beats++) await watcher.reader.nextHeartbeat()
    await writer.write([{ topic: jobs, key: 'a', value: text('2') }])
    expect(watcher.values).toEqual(['1'])
    gate.resolve()
    await watcher.until(() => watcher.records.length === 2)
    expect(watcher.joins).toHaveLength(1)
  })

  test('continues at the committed offset, and leaves partitions of others out of a commit', async () => {
    const { jobs, other } = await makeTopics(['jobs', 'other'])
    const writer = await openWriter()
    await writer.write(['a', 'b', 'c'].map((value) => ({ topic: jobs, key: 'k', value: text(value) })))
    const first = new Watcher({ topics: [jobs] })
    await first.reader.start()
    await first.until(() => first.records.length === 3)
    await first.reader.commit([
      { topic: jobs, partition: 0, offset: 2 },
      { topic: other, partition: 0, offset: 7 },
    ])
    await first.reader.stop()
    const second = new Watcher({ topics: [jobs] })
    await second.reader.start()
    await second.until(() => second.records.length === 1)
    expect(second.values).toEqual(['c'])
  })

  test('begins at the end with startAt latest', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const writer = await openWriter()
    await writer.write([{ topic: jobs, key: 'k', value: text('old') }])
    const watcher = new Watcher({ topics: [jobs], startAt: 'latest' })
    await watcher.reader.start()
    // The position is looked up with the first fetch; a heartbeat is sent after it.
    await watcher.reader.nextHeartbeat()
    await watcher.reader.nextHeartbeat()
    await writer.write([{ topic: jobs, key: 'k', value: text('new') }])
    await watcher.until(() => watcher.records.length === 1)
    expect(watcher.values).toEqual(['new'])
  })

  test('stays the same member when all connections are cut for a while', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const writer = await openWriter()
    const { proxy, log } = await openThroughProxy({}, { sessionTimeoutMs: 30_000 })
    const watcher = new Watcher({ topics: [jobs] }, log)
    await watcher.reader.start()
    proxy.refuse(true)
    proxy.cut()
    await proxy.refused(3)
    await writer.write([{ topic: jobs, key: 'k', value: text('a') }])
    proxy.refuse(false)
    await watcher.until(() => watcher.records.length === 1)
    await watcher.reader.nextHeartbeat()
    expect(watcher.joins).toHaveLength(1)
    expect(watcher.crashes).toEqual([])
  })

  test('asks for its positions again after the group has removed it', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const writer = await openWriter()
    await writer.write([{ topic: jobs, key: 'k', value: text('a') }])
    const { proxy, log } = await openThroughProxy({}, { sessionTimeoutMs: 6_000 })
    const watcher = new Watcher(
      { topics: [jobs], onAssigned: () => ({ positions: [{ topic: jobs, partition: 0, offset: 0 }] }) },
      log,
    )
    await watcher.reader.start()
    await watcher.until(() => watcher.records.length === 1)
    proxy.refuse(true)
    proxy.cut()
    const admin = await openLog().admin()
    while ((await admin.groupMembers(`${jobs}.group`)).length > 0);
    await admin.close()
    proxy.refuse(false)
    await watcher.until(() => watcher.joins.length >= 2 && watcher.records.length >= 2)
    expect(watcher.records.map(({ offset }) => offset).slice(0, 2)).toEqual([0, 0])
    expect(watcher.crashes).toEqual([])
  })

  test('reports that a topic does not exist', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const watcher = new Watcher({ topics: [`${jobs}.nowhere`] })
    await expect(watcher.reader.start()).rejects.toMatchObject({ code: 'unsafe-topic' })
  })

  test('reports that no broker can be reached', async () => {
    const watcher = new Watcher({ topics: ['t'] }, openLog({ brokers: ['127.0.0.1:1'] }))
    await expect(watcher.reader.start()).rejects.toMatchObject({ code: 'broker-unavailable' })
  })

  test('stops twice, before and after its start, and turns waiters away', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const idle = new Watcher({ topics: [jobs] })
    await idle.reader.stop()
    const watcher = new Watcher({ topics: [jobs] })
    const starting = watcher.reader.start()
    const outcome = starting.then(
      () => 'started',
      (error: { code: string }) => error.code,
    )
    await watcher.reader.stop()
    expect(['started', 'not-ready']).toContain(await outcome)
    await watcher.reader.stop()
    await expect(watcher.reader.nextHeartbeat()).rejects.toMatchObject({ code: 'not-ready' })
    // After stop, these calls have no effect and throw nothing, because a late timer may still make them.
    watcher.reader.pause([{ topic: jobs, partition: 0 }])
    watcher.reader.resume([{ topic: jobs, partition: 0 }])
    watcher.reader.seek({ topic: jobs, partition: 0, offset: 0 })
    // The caller must not treat it as committed.
    const late = watcher.reader.commit([{ topic: jobs, partition: 0, offset: 0 }])
    await expect(late).rejects.toMatchObject({ code: 'not-ready' })
  })

  test('reports an error of its own handler as a crash, once', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const writer = await openWriter()
    await writer.write([{ topic: jobs, key: 'k', value: text('a') }])
    const watcher = new Watcher({
      topics: [jobs],
      onBatch: () => {
        throw new Error('handler broke')
      },
    })
    await watcher.reader.start()
    await watcher.until(() => watcher.crashes.length > 0)
    expect(watcher.crashes[0]?.message).toContain('handler broke')
  })
})
