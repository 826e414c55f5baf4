/**
 * Overrides of kafkajs. It has no hook for some of what we need, so parts of it are replaced, only for code that runs within
 * `run` of a scope.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * A scope whose replacement is installed once, before its first use. `install` gets a function that tells whether the caller runs
 * in the scope. All other users of kafkajs in this process keep the original.
 */
export function replaced(install: (isOurs: () => boolean) => void): <Value>(run: () => Value) => Value {
  const scope = replacedFor<true>((current) => install(() => current() === true))
  return (run) => scope(true, run)
}

/**
 * The same for scopes that hold a value: `install` gets a function that returns the value of the caller's scope; undefined
 * outside any scope.
 */
export function replacedFor<Scope>(
  install: (current: () => Scope | undefined) => void,
): <Value>(scope: Scope, run: () => Value) => Value {
  const scopes = new AsyncLocalStorage<Scope>()
  let isInstalled = false
  return (scope, run) => {
    if (!isInstalled) install(() => scopes.getStore())
    isInstalled = true
    return scopes.run(scope, run)
  }
}
