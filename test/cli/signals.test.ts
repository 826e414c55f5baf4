/** What the first and the second Ctrl-C do, also to a command that follows an operation. */
import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Operation, Operations } from '../../src/ground/ports/operations.ts'
import { type SignalSource, watchSignals } from '../../src/ground/process/signals.ts'
import { createSystem } from '../api/system-in-memory.ts'
import { duelog, duelogHere } from './built-program.ts'

class FakeProcess extends EventEmitter implements SignalSource {
  exits: number[] = []
  exit(code: number): void {
    this.exits.push(code)
  }
}

function watched() {
  const source = new FakeProcess()
  const clock = { nowMs: 0 }
  const signals = watchSignals(source, () => clock.nowMs)
  return { source, clock, signals }
}

describe('signals', () => {
  it('request a graceful stop at the first', () => {
    const { source, signals } = watched()
    expect(signals.exitCode).toBeUndefined()
    source.emit('SIGTERM', 'SIGTERM')
    expect(signals.stop.aborted).toBe(true)
    expect(signals.exitCode).toBe(143)
    expect(source.exits).toEqual([])
  })
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('end the process at once at the second, %s with %i', (name, code) => {
    const { source, clock } = watched()
    source.emit('SIGTERM', 'SIGTERM')
    clock.nowMs = 1_000
    source.emit(name, name)
    expect(source.exits).toEqual([code])
  })
  it('count the Ctrl-C that npm passes on as the same one that the terminal sent', () => {
    const { source, clock } = watched()
    source.emit('SIGINT', 'SIGINT')
    clock.nowMs = 20
    source.emit('SIGINT', 'SIGINT')
    expect(source.exits).toEqual([])
  })
  it('have their default effect again afterwards', () => {
    const { source, signals } = watched()
    signals.dispose()
    expect(source.listenerCount('SIGINT') + source.listenerCount('SIGTERM')).toBe(0)
  })
})

/** An API with one operation, which never ends by itself. `asked` resolves when a command has begun to follow it. */
function following() {
  const request = {
    ...{ action: 'PAUSE', jobIds: null, runIds: null, tag: 'eu', handler: null, status: null },
    ...{
      idPrefix: null,
      idContains: null,
      runStatus: null,
      diedFrom: null,
      diedTo: null,
      errorType: null,
      errorKind: null,
      actor: null,
      payload: null,
      payloadIsJson: false,
    },
  }
  const progress = {
    ...{ status: 'RUNNING', total: 30, applied: 10, refused: 0, reasons: [], parts: [], startedAt: 6 },
    ...{ effectiveAt: null, endedAt: null, problem: null, driver: 'w@h:1:b' },
  }
  const operation: Operation = { id: 'op-7', createdAt: 5, request, progress, cancel: undefined }
  const asked = Promise.withResolvers<void>()
  const cancelled: string[] = []
  let looks = 0
  const operations: Operations = {
    create: async () => operation,
    count: async () => expect.fail(),
    // The second look of a command is that of its loop.
    get: async () => {
      if (++looks === 2) asked.resolve()
      return operation
    },
    list: async () => [operation],
    cancel: async (id) => {
      cancelled.push(id)
      return { ...operation, cancel: { actor: null } }
    },
  }
  return { system: createSystem({ operations }), asked: asked.promise, cancelled }
}

describe('Ctrl-C', () => {
  it.each([
    {
      args: ['operations', 'get', 'op-7', '--follow'],
      err: 'Operation op-7 goes on; "duelog operations get op-7 --follow" follows it, "duelog operations cancel op-7" cancels it.\n',
      cancels: [],
    },
    {
      args: ['jobs', 'pause', '--tag', 'eu'],
      err: 'Operation op-7 is cancelled; 10 of 30 paused by now. "duelog operations get op-7" shows the end.\n',
      cancels: ['op-7'],
    },
  ])('in duelog $args.0 $args.1: says what became of the operation', async ({ args, err, cancels }) => {
    const { system, asked, cancelled } = following()
    await using _ = system
    const env = { DUELOG_URL: await system.api.listen('127.0.0.1', 0) }
    const ended = await duelog(args, { env, interrupted: asked })
    expect([ended.code, ended.out, ended.err]).toEqual([130, '', err])
    expect(cancelled).toEqual(cancels)
  })
  it('is not needed when the server is gone: the command ends and says how to go on later', async () => {
    const { system, asked } = following()
    await using _ = system
    const env = { DUELOG_URL: await system.api.listen('127.0.0.1', 0) }
    const running = duelogHere(['operations', 'get', 'op-7', '--follow'], { env })
    await asked
    await system.api.stop()
    const { code, err } = await running
    expect(code).toBeGreaterThan(0)
    expect(err).toContain('Operation op-7 may go on; "duelog operations get op-7 --follow" follows it')
  })
})
