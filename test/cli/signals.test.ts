import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { type SignalSource, watchSignals } from '../../src/cli/terminal/signals.ts'

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
