/**
 * The roles of its environment in a process of their own, as the program runs them. Besides the built-in handlers there is `hold`, which
 * says that it runs and returns when the test releases it, or when its attempt is aborted. It ends with its parent.
 */
import { readConfig } from '../../src/config/config.ts'
import type { Handler } from '../../src/index.ts'
import { startSystem } from '../../src/main.ts'
import type { ChildMessage } from './duelog-process-plan.ts'

const say = (message: ChildMessage): void => {
  if (process.connected) process.send?.(message)
}
const held = new Set<() => void>()
const hold: Handler = ({ jobId, runNo, attempt, signal }) =>
  new Promise<void>((resolve) => {
    held.add(resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
    say({ kind: 'run', jobId, runNo, attempt })
  })

const system = await startSystem({
  config: readConfig(process.env),
  handlers: { hold },
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
  if (message === 'release') for (const release of held) release()
})
process.on('SIGTERM', stop)
process.on('disconnect', () => process.exit())
say({ kind: 'system', url: system.url })
