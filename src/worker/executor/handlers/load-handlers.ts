/** Loads a user's handlers from a module, at the start, so that a mistake shows then and not at the first run. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import { reservedNameProblem } from './built-in.ts'
import { type AnyHandler, type GivenHandlers, handlerProblem } from './prepared-handlers.ts'

/**
 * The handlers that a module exports by name, and those of its default export if that is an object. The
 * latter may have names that are no identifiers, such as `send-report`. Relative paths start at the working directory. Throws
 * DuelogError `bad-config` if the module is missing, fails to load, or exports anything else.
 */
export async function loadHandlers(modulePath: string): Promise<GivenHandlers> {
  const path = resolve(modulePath)
  if (!existsSync(path)) throw new DuelogError('bad-config', `DUELOG_HANDLERS: there is no module at ${path}`)
  let module: Record<string, unknown>
  try {
    module = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    const place = await placeOf(error, path)
    throw new DuelogError('bad-config', `DUELOG_HANDLERS: ${path} could not be loaded: ${messageOf(error)}${place}`, {
      cause: error,
    })
  }
  const { default: byDefault, ...named } = module
  // A CommonJS module shows its exports both by name and as the default; the default is complete.
  const found = { ...named, ...objectOf(byDefault, path) }
  delete found['module.exports']
  const handlers: GivenHandlers = {}
  for (const [name, value] of Object.entries(found)) {
    if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) {
      throw new DuelogError('bad-config', `DUELOG_HANDLERS: export "${name}" of ${path} is ${kindOf(value)}, not a function`)
    }
    const problem = reservedNameProblem(name) ?? handlerProblem(name, value)
    if (problem !== undefined) throw new DuelogError('bad-config', `DUELOG_HANDLERS: ${problem} (${path})`)
    handlers[name] = value as AnyHandler
  }
  if (Object.keys(handlers).length === 0) {
    throw new DuelogError('bad-config', `DUELOG_HANDLERS: ${path} exports no handler; export functions by the handlers' names`)
  }
  return handlers
}

/** How long Node may take to check the syntax of a module. */
const checkMs = 10_000

/** " (file:line)" where the error is; empty if nobody knows. */
async function placeOf(error: unknown, path: string): Promise<string> {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  // Node puts the place of some syntax errors before the error, and the module that threw is in the first frame with a file.
  const known = /^(?:file:\/\/)?(\/.+:\d+)\n/.exec(stack)?.[1] ?? /^ +at .*file:\/\/([^()\n]+)/m.exec(stack)?.[1]
  if (known !== undefined) return ` (${known})`
  if (!(error instanceof SyntaxError)) return ''
  // The error of an import() has no place; that of a check has.
  const told = await new Promise<string>((settle) => {
    execFile(process.execPath, ['--check', path], { timeout: checkMs }, (_failure, _stdout, stderr) => settle(stderr))
  })
  const place = /^(?:file:\/\/)?(\/.+:\d+)\n/.exec(told)?.[1]
  return place === undefined ? '' : ` (${place})`
}

function objectOf(value: unknown, path: string): Record<string, unknown> {
  if (value === undefined) return {}
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw new DuelogError(
    'bad-config',
    `DUELOG_HANDLERS: the default export of ${path} is ${kindOf(value)}; make it an object of functions by the handlers' names`,
  )
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
