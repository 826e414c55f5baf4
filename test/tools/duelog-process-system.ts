/**
 * The roles of its environment in a process of their own, as the program runs them. It has four handlers besides the built-in
 * ones. `hold` reports that it runs, and returns when the test releases it or its attempt is aborted. `deaf` returns only when
 * the test releases it. `stuck` does neither in its first attempt and continues its heartbeats. `telling` writes lines, and
 * returns in its second attempt only. The process ends with its parent.
 */

import type { Handler } from '../../src/clients/library/index.ts'
import { readConfig } from '../../src/ground/config/config.ts'
import { startSystem } from '../../src/program/system/system.ts'
import type { ChildMessage } from './duelog-process-plan.ts'

const say = (message: ChildMessage): void => {
  if (process.connected) process.send?.(message)
}
/** The wall clock that everything in this process reads. */
const trueNow = Date.now
let clockOffByMs = 0
Date.now = () => trueNow() + clockOffByMs

const held = new Set<() => void>()
const holding =
  (hears: boolean): Handler =>
  ({ jobId, runNo, attempt, signal }) =>
    new Promise<void>((resolve) => {
      held.add(resolve)
      const onAbort = (): void => {
        say({ kind: 'aborted', jobId, runNo, reason: String(signal.reason) })
        if (hears) resolve()
      }
      signal.addEventListener('abort', onAbort, { once: true })
      say({ kind: 'run', jobId, runNo, attempt })
    })

const stuck: Handler = ({ jobId, runNo, attempt, heartbeat }) => {
  say({ kind: 'run', jobId, runNo, attempt })
  if (attempt > 1) return undefined
  setInterval(() => heartbeat({ progress: 0.5, message: 'still there' }), 200)
  return new Promise<never>(() => {})
}
const telling: Handler = ({ attempt, log }) => {
  log('info', `attempt ${attempt} begins`, { pid: process.pid })
  if (attempt === 1) return new Promise<never>(() => {})
  log('warn', `attempt ${attempt} ends`)
  return undefined
}
/** Blocks the process for ever, as an endless loop does. */
const block = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const system = await startSystem({
  config: readConfig(process.env),
  handlers: { hold: holding(true), deaf: holding(false), stuck, telling },
  onFatal: (error) => say({ kind: 'fatal', message: error.message }),
})
await system.ready()

const stop = (): void => {
  void system.stop().then(() => {
    say({ kind: 'stopped' })
    process.disconnect()
  })
}
process.on('message', (message) => {
  if (message === 'stop') stop()
  if (typeof message === 'object' && message !== null && 'clockOffByMs' in message) clockOffByMs = Number(message.clockOffByMs)
  if (message === 'block') block()
  if (message === 'release') for (const release of held) release()
})
process.on('SIGTERM', stop)
process.on('disconnect', () => process.exit())
say({ kind: 'system', url: system.url })
