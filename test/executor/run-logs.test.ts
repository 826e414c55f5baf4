/** run.log in a worker: what reaches the topic, when, and what never depends on it. */
import { describe, expect, it } from 'vitest'
import { type RunLog, type RunLogInput, runLogSchema } from '../../schemas/generated.ts'
import { avroType } from '../../src/log/kafka/avro/avro-type.ts'
import { AvroCodec } from '../../src/log/kafka/avro/codec.ts'
import type { BatchHandler, Handler, Handlers, Run } from '../../src/worker/executor/handlers/handler.ts'
import { rest } from '../tools/manual-clock.ts'
import { codecs, Harness, names } from './harness.ts'

const runLog = new AvroCodec<RunLog, RunLogInput>(avroType(runLogSchema), [9], () => Promise.reject(new Error('unknown id')))
const started = (handlers: Handlers, concurrency = 4) =>
  new Harness(handlers, { codecs: { ...codecs, runLog }, concurrency }).start()
const logsIn = (harness: Harness): RunLog[] =>
  harness.log.records(names.runLogs).map(({ value }) => runLog.decode(value as Buffer) as RunLog)
const linesIn = (harness: Harness): string[] =>
  logsIn(harness).flatMap(({ jobId, attempt, lines }) => lines.map(({ level, text }) => `${jobId}/${attempt} ${level} ${text}`))
/** Topics in the order of their writes. */
const watchWrites = (harness: Harness): string[] => {
  const writes: string[] = []
  harness.log.refusalOf = (records) => {
    writes.push(records[0]?.topic ?? '')
    return undefined
  }
  return writes
}
const metricOf = async (harness: Harness): Promise<Record<string, number>> => {
  const { values } = await harness.metrics.runLogLines.get()
  return Object.fromEntries(values.filter(({ value }) => value > 0).map(({ labels, value }) => [String(labels.outcome), value]))
}

describe('lines of a run', () => {
  it('are on the brokers before the report that ends the run, in one record, numbered from 1', async () => {
    const mail: Handler = ({ log }) => {
      log('info', 'Sent 12 of 40', { customer: 'a' })
      log('warn', 'One address is wrong')
    }
    const harness = await started({ mail })
    const writes = watchWrites(harness)
    harness.put({ jobId: 'j', runNo: 3, attempt: 2, life: 'x', handler: 'mail' }, { partition: 1 })
    await rest()
    await harness.clock.advance(20)
    expect(writes).toEqual([names.runLogs, names.events])
    expect(logsIn(harness)).toEqual([
      {
        ...{ jobId: 'j', runNo: 3, life: 'x', attempt: 2, worker: 'worker@test:1:a', firstNo: 1 },
        lines: [
          { at: harness.clock.nowMs() - 20, level: 'info', text: 'Sent 12 of 40', fields: '{"customer":"a"}', shortened: false },
          { at: harness.clock.nowMs() - 20, level: 'warn', text: 'One address is wrong', fields: null, shortened: false },
        ],
      },
    ])
    expect(harness.log.records(names.runLogs, 1).map(({ key }) => key?.toString())).toEqual(['j'])
    expect(harness.events().map(({ type }) => type)).toEqual(['SUCCEEDED'])
    await harness.stop()
  })

  it('say what the result of the handler has lost, because JSON cannot hold it', async () => {
    const result = () => ({
      mean: Number.NaN,
      at: new Date(Number.NaN),
      ids: new Set([1]),
      kept: [undefined, 1.5],
      none: undefined,
    })
    const harness = await started({
      result,
      whole: () => Number.POSITIVE_INFINITY,
      lazy: () => ({ body: Promise.resolve(1), error: new Error('x'), send: () => {} }),
      many: () => Array.from({ length: 9 }, () => Number.NaN),
      fine: () => [undefined, null, { at: new Date(0), none: undefined, error: { message: 'x' } }],
      nothing: () => () => 1,
    })
    for (const handler of ['result', 'whole', 'lazy', 'many', 'fine', 'nothing']) harness.put({ jobId: handler, handler })
    await rest()
    await harness.clock.advance(20)
    const lost = 'The result is not kept as the handler returned it:'
    expect(linesIn(harness)).toEqual([
      `result/1 warn ${lost} "mean" is NaN, which JSON has as null; "at" is an invalid Date, which JSON has as null; "ids" is a Map or Set, which JSON has as {}.`,
      `whole/1 warn ${lost} it is Infinity, which JSON has as null.`,
      `lazy/1 warn ${lost} "body" is a promise that nobody waits for, which JSON has as {}; "error" is an Error, which JSON has without its message; "send" is a function, which JSON leaves out.`,
      expect.stringMatching(/^many\/1 warn .*: "0" is NaN.*; "4" is NaN, which JSON has as null\. There are more\.$/),
      `nothing/1 warn ${lost} it is a function, which JSON leaves out.`,
    ])
    const ended = harness.events().map(({ jobId, type, result }) => [jobId, type, result?.toString()])
    expect(ended).toEqual([
      ['result', 'SUCCEEDED', '{"mean":null,"at":null,"ids":{},"kept":[null,1.5]}'],
      ['whole', 'SUCCEEDED', 'null'],
      ['lazy', 'SUCCEEDED', '{"body":{},"error":{}}'],
      ['many', 'SUCCEEDED', '[null,null,null,null,null,null,null,null,null]'],
      ['fine', 'SUCCEEDED', '[null,null,{"at":"1970-01-01T00:00:00.000Z","error":{"message":"x"}}]'],
      ['nothing', 'SUCCEEDED', undefined],
    ])
    await harness.stop()
  })

  it('are sent within a second while the handler runs, and continue their numbers', async () => {
    const ends: (() => void)[] = []
    const slow: Handler = async ({ log }) => {
      log('info', 'first')
      await new Promise<void>((resolve) => ends.push(resolve))
      log('debug', 'last')
    }
    const harness = await started({ slow })
    harness.put({ handler: 'slow' })
    await rest()
    await harness.clock.advance(1_000)
    expect(linesIn(harness)).toEqual(['job/1 info first'])
    ends[0]?.()
    await rest()
    await harness.clock.advance(20)
    expect(logsIn(harness).map(({ firstNo, lines }) => [firstNo, lines.length])).toEqual([
      [1, 1],
      [2, 1],
    ])
    await harness.stop()
  })

  it('come from failed runs, from each run of a batch, and from handlers that go on after their timeout', async () => {
    const batch: BatchHandler = {
      batch: { maxSize: 2, maxWaitMs: 0 },
      run: async (runs) => {
        for (const run of runs) run.log('info', `of ${run.jobId}`)
      },
    }
    const bad: Handler = ({ log }) => {
      log('error', 'It will fail')
      throw new Error('failed')
    }
    const late: Handler = async ({ log, signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      log('warn', 'Too late')
    }
    const harness = await started({ batch, bad, late })
    for (const jobId of ['a', 'b']) harness.put({ jobId, handler: 'batch' })
    harness.put({ jobId: 'c', handler: 'bad' })
    harness.put({ jobId: 'd', handler: 'late', attemptTimeoutMs: 1_000 })
    await rest()
    await harness.clock.advance(3_000)
    expect(linesIn(harness).toSorted()).toEqual(['a/1 info of a', 'b/1 info of b', 'c/1 error It will fail', 'd/1 warn Too late'])
    await harness.stop()
  })

  it('are sent when the worker stops, before it gives the run back', async () => {
    const stuck: Handler = ({ log }) => {
      log('info', 'half way')
      return new Promise(() => {})
    }
    const harness = await started({ stuck })
    harness.put({ handler: 'stuck' })
    await rest()
    const writes = watchWrites(harness)
    await harness.stop()
    expect(linesIn(harness)).toEqual(['job/1 info half way'])
    expect(writes.lastIndexOf(names.runLogs)).toBeLessThan(writes.lastIndexOf(names.events))
    expect(harness.events().map(({ type }) => type)).toEqual(['STARTED', 'RELEASED'])
    expect(harness.log.openWriters).toBe(0)
  })

  it('of a handler that goes on after its worker has stopped open nothing again', async () => {
    let log: Run['log'] | undefined
    const stuck: Handler = (run) => {
      log = run.log
      return new Promise(() => {})
    }
    const harness = await started({ stuck })
    harness.put({ handler: 'stuck' })
    await rest()
    await harness.stop()
    const armed = harness.clock.armed
    log?.('info', 'still here')
    await rest()
    expect(harness.clock.armed).toBe(armed)
    await harness.clock.advance(10_000)
    expect([harness.log.openWriters, linesIn(harness)]).toEqual([0, []])
  })

  it('are not written without a codec, and open no writer before the first line', async () => {
    const plain = await new Harness({ mail: ({ log }) => log('info', 'x') }).start()
    plain.put({ handler: 'mail' })
    const quiet = await started({ mail: () => undefined })
    quiet.put({ handler: 'mail' })
    await rest()
    for (const harness of [plain, quiet]) {
      await harness.clock.advance(2_000)
      expect(harness.log.records(names.runLogs)).toEqual([])
      expect(harness.log.openWriters).toBe(1)
      expect(harness.events().map(({ type }) => type)).toEqual(['SUCCEEDED'])
      await harness.stop()
    }
  })
})

describe('the limits of an attempt', () => {
  it('take 100 lines of a second and say in one line how many were left out', async () => {
    const loud: Handler = ({ log }) => {
      for (let no = 1; no <= 250; no++) log('info', `line ${no}`)
    }
    const harness = await started({ loud })
    harness.put({ handler: 'loud' })
    await rest()
    await harness.clock.advance(2_000)
    const lines = linesIn(harness)
    expect(lines).toHaveLength(101)
    expect(lines.slice(99)).toEqual(['job/1 info line 100', expect.stringMatching(/^job\/1 warn 150 lines were left out/)])
    expect(await metricOf(harness)).toEqual({ written: 101, left_out: 150 })
    await harness.stop()
  })

  it('take 1,000 lines in all, say so when it is reached, and the number at the end', async () => {
    const loud: Handler = async ({ log, signal }) => {
      while (!signal.aborted) {
        for (let no = 1; no <= 100; no++) log('info', 'x')
        await new Promise<void>((resolve) => harness.clock.at(harness.clock.nowMs() + 1_000, resolve))
      }
    }
    const harness: Harness = await started({ loud })
    harness.put({ handler: 'loud', attemptTimeoutMs: 30_500 })
    await rest()
    await harness.clock.advance(40_000)
    const lines = linesIn(harness)
    expect(lines.filter((line) => line.endsWith(' x'))).toHaveLength(1_000)
    const others = lines.filter((line) => !line.endsWith(' x'))
    expect(others).toEqual([
      expect.stringContaining('Further lines of this attempt are left out'),
      expect.stringMatching(/ 2[01]00 lines were left out/),
    ])
    await harness.stop()
  })

  it('take a MiB of lines in all, and send no record of more than 80 kB', async () => {
    const wide: Handler = async ({ log }) => {
      for (let second = 0; second < 10; second++) {
        for (let no = 0; no < 90; no++) log('info', 'y'.repeat(4_096))
        await new Promise<void>((resolve) => harness.clock.at(harness.clock.nowMs() + 1_000, resolve))
      }
    }
    const harness: Harness = await started({ wide })
    harness.put({ handler: 'wide' })
    await rest()
    await harness.clock.advance(12_000)
    const sizes = harness.log.records(names.runLogs).map(({ value }) => value?.length ?? 0)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_150_000)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(900_000)
    expect(Math.max(...sizes)).toBeLessThan(80_000)
    await harness.stop()
  })
})

describe('brokers that take no lines', () => {
  const chatty: Handler = ({ log }) => log('info', 'x')
  const withoutLogs = (harness: Harness): string[] => {
    const writes: string[] = []
    harness.log.refusalOf = (records) => {
      writes.push(records[0]?.topic ?? '')
      return records[0]?.topic === names.runLogs ? new Error('no topic') : undefined
    }
    return writes
  }

  it('let runs end all the same, are left alone for a while, and the lines are counted as lost', async () => {
    const harness = await started({ chatty })
    const writes = withoutLogs(harness)
    for (let runNo = 1; runNo <= 50; runNo++) {
      harness.put({ runNo, handler: 'chatty' })
      await rest()
      await harness.clock.advance(20)
    }
    expect(harness.events().filter(({ type }) => type === 'SUCCEEDED')).toHaveLength(50)
    expect(writes.filter((topic) => topic === names.runLogs)).toHaveLength(1)
    await harness.clock.advance(5_000)
    expect(writes.filter((topic) => topic === names.runLogs)).toHaveLength(2)
    expect(await metricOf(harness)).toEqual({ lost: 50 })
    harness.log.refusalOf = () => undefined
    await harness.clock.advance(6_000)
    harness.put({ runNo: 51, handler: 'chatty' })
    await rest()
    await harness.clock.advance(20)
    expect(linesIn(harness)).toEqual(['job/1 info x'])
    await harness.stop()
  })

  it('and never answer delay the end of a run by half a second, once', async () => {
    const harness = await started({ chatty })
    await rest()
    const { writer } = harness.log
    const hung = harness.log.writer.bind(harness.log)
    harness.log.writer = async () => ({ ...(await hung()), write: () => new Promise(() => {}) })
    harness.put({ handler: 'chatty' })
    await rest()
    await harness.clock.advance(499)
    expect(harness.events()).toEqual([])
    await harness.clock.advance(30)
    expect(harness.events().map(({ type }) => type)).toEqual(['SUCCEEDED'])
    harness.put({ runNo: 2, handler: 'chatty' })
    await rest()
    await harness.clock.advance(20)
    expect(harness.events()).toHaveLength(2)
    harness.log.writer = writer
    await harness.stop()
  })

  it('cost at most 8 MiB of memory, whatever handlers write', async () => {
    const wide: Handler = ({ log }) => {
      for (let no = 0; no < 15; no++) log('info', 'z'.repeat(4_096))
    }
    const harness = await started({ wide, chatty })
    withoutLogs(harness)
    harness.put({ handler: 'chatty' })
    await rest()
    await harness.clock.advance(20)
    for (let runNo = 2; runNo <= 302; runNo++) harness.put({ runNo, handler: 'wide' })
    await rest()
    await harness.clock.advance(100)
    await harness.clock.advance(10_000)
    const { lost = 0, left_out: leftOut = 0 } = await metricOf(harness)
    expect(lost * 4_300).toBeLessThan(8.2 * 1_048_576)
    expect(lost + leftOut).toBeGreaterThanOrEqual(301 * 15)
    expect(harness.events().filter(({ type }) => type === 'SUCCEEDED')).toHaveLength(302)
    await harness.stop()
  })
})
