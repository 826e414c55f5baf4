/** kafkajs has no place for some of what we need, so parts of it are replaced: for what runs within `run` of a scope alone. */
import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * A scope whose replacement is installed once, before its first use. `install` is given the question whether what calls runs in the scope:
 * all else that uses kafkajs in this process goes on with what was there.
 */
export function replaced(install: (isOurs: () => boolean) => void): <Value>(run: () => Value) => Value {
  const ours = new AsyncLocalStorage<true>()
  let isInstalled = false
  return (run) => {
    if (!isInstalled) install(() => ours.getStore() === true)
    isInstalled = true
    return ours.run(true, run)
  }
}
