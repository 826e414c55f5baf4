/**
 * Overrides of kafkajs. It has no hook for some of what we need, so parts of it are replaced, only for code that runs within
 * `run` of a scope.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

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

/** Replaces what a module of kafkajs exports. Modules that have already loaded it keep the original; see `forgetModule`. */
export function replaceModule<Exports>(path: string, replacement: (usual: Exports) => Exports): void {
  const usual = require(path) as Exports
  const loaded = require.cache[require.resolve(path)]
  if (loaded === undefined) throw new Error(`${path} was loaded and is not there.`)
  loaded.exports = replacement(usual)
}

/** The module is loaded again at its next use, even if another user of kafkajs has loaded it. */
export function forgetModule(path: string): void {
  delete require.cache[require.resolve(path)]
}
