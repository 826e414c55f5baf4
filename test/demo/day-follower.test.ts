import { describe, expect, it } from 'vitest'
import type { GroupReaderOptions, Log } from '../../src/ground/ports/log.ts'
import type { Codecs } from '../../src/log/kafka/avro/codecs.ts'
import { DayFollower } from '../../src/program/demo/day-run.ts'
import { RunAccounts } from '../../src/program/demo/run-accounts.ts'
import { stateKey } from '../../streams/state/keys.ts'
import { topicNames } from '../../streams/topics/topics.ts'

const names = topicNames('t.')
const executions = names.executions('default', 'NORMAL')
const codec = {
  encode: (value: unknown) => Buffer.from(JSON.stringify(value)),
  decode: (bytes: Buffer) => JSON.parse(String(bytes)),
}
const codecs = Object.fromEntries(
  ['definition', 'command', 'state', 'execution', 'event', 'deadLetter'].map((name) => [name, codec]),
) as unknown as Codecs

function following() {
  const ledger = new RunAccounts([{ id: 'a', dueAt: 0 }], [])
  const errors: Error[] = []
  let reader: GroupReaderOptions | undefined
  const log = {
    reader(options: GroupReaderOptions) {
      reader = options
      return {}
    },
  } as unknown as Log
  const isMark = (id: string): boolean => id.startsWith('mark-')
  const follower = new DayFollower({ log, codecs, names, accounts: ledger, isMark, onError: (error) => errors.push(error) })
  const give = async (topic: string, offset: number, value: unknown, key: Buffer = Buffer.from('k')): Promise<void> => {
    const bytes = value === undefined ? Buffer.from('?') : codec.encode(value)
    const record = { topic, partition: 0, offset, timestampMs: 0, key, value: bytes, headers: {} }
    await reader?.onBatch({ topic, partition: 0, records: [record], highWatermark: offset + 1 })
  }
  return { ledger, follower, errors, give, reader: () => reader as GroupReaderOptions }
}

const execution = (jobId: string) => ({ jobId, runNo: 1, attempt: 1, dueAt: 0 })
const success = { state: { lastRun: { status: 'SUCCEEDED' } } }

describe('the follower of the log', () => {
  it('reads the committed records of every topic that shows what happened', () => {
    const { topics, readCommitted } = following().reader()
    expect(readCommitted).not.toBe(false)
    expect([...topics].sort()).toEqual(
      [
        ...['high', 'normal', 'low'].flatMap((level) => [`t.executions.default.${level}`, `t.executions.default.${level}.ahead`]),
        ...['t.execution-events', 't.job-state', 't.executions.dlq'],
      ].sort(),
    )
  })
  it('counts no record twice when it is delivered again, but counts each of two records', async () => {
    const { ledger, give, reader } = following()
    await give(executions, 5, execution('a'))
    await give(executions, 5, execution('a'))
    expect(ledger.verdict().duplicate).toEqual([])
    expect(reader().onAssigned([], 2)).toEqual({ positions: [{ topic: executions, partition: 0, offset: 6 }] })
    await give(executions, 6, execution('a'))
    expect(ledger.verdict().duplicate).toEqual(['a'])
  })
  it('is complete when every occurrence has ended', async () => {
    const { follower, give } = following()
    await give(names.state, 0, success, stateKey('a'))
    await follower.complete
  })
  it('has seen a mark when its execution and its end were read, and counts neither', async () => {
    const { ledger, follower, give } = following()
    let seen = false
    const waiting = follower.seen(new Set(['mark-1'])).then(() => {
      seen = true
    })
    await give(executions, 0, execution('mark-1'))
    expect(seen).toBe(false)
    await give(names.state, 0, success, stateKey('mark-1'))
    await waiting
    expect(ledger.verdict().unexpected).toEqual([])
  })
  it('reports what it cannot read', async () => {
    const { errors, give } = following()
    await give(executions, 0, undefined)
    expect(errors).toHaveLength(1)
  })
})
