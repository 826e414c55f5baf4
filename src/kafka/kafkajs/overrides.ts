/** kafkajs has no place for some of what we need, so parts of it are replaced: for what runs within `run` of a scope alone. */
import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * A scope whose replacement is installed once, before its first use. `install` is given the question whether what calls runs in the scope:
 * all else that uses kafkajs in this process goes on with what was there.
 */
export function replaced(install: (isOurs: () => boolean) => void): <Value>(run: () => Value) => Value {
  const scope = replacedFor<true>((current) => install(() => current() === true))
  return (run) => scope(true, run)
}

/** The same for scopes of several: `install` is given the question whose scope it is that what calls runs in; undefined in none. */
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
