/** Checks options that programs pass in code: without a compiler a mistyped option would be ignored silently. */

import { nearestOf } from '../../../streams/text/index.ts'
import { DuelogError } from './errors.ts'

/** Throws `bad-config` for a value that is no object, and for the first unknown option. */
export function requireKnown(what: string, options: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof options !== 'object' || options === null)
    throw new DuelogError('bad-config', `${what} needs an object of options, at least { ${Object.keys(known)[0]} }`)
  requireNames('bad-config', what, options, known)
}

/**
 * The options of a call; {} if none are given. Throws `bad-request` for a value that is no object, and for the first unknown option.
 */
export function callOptions<Options extends object>(
  call: string,
  options: Options | undefined,
  known: Readonly<Record<keyof Options, true>>,
): Partial<Options> {
  if (options === undefined) return {}
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new DuelogError('bad-request', `The options of ${call} must be an object, such as { ${Object.keys(known)[0]} }.`)
  requireNames('bad-request', call, options, known)
  return options
}

function requireNames(code: 'bad-config' | 'bad-request', what: string, options: object, known: object): void {
  const names = Object.keys(known)
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue
    const near = nearestOf(name, names)
    const hint = near === undefined ? `known are ${names.join(', ')}` : `did you mean ${near}?`
    throw new DuelogError(code, `${what} has no option ${JSON.stringify(name)}; ${hint}`)
  }
}

/** Also in package.json, and in src/program/cli/duelog.ts, which cannot import it. */
const nodeMajorMin = 24

/** Throws `bad-config` on a Node that is too old for workers and test systems. Clients also run on older ones. */
export function requireNode(what: string): void {
  if (Number(process.versions.node.split('.')[0]) >= nodeMajorMin) return
  throw new DuelogError('bad-config', `${what} needs Node ${nodeMajorMin} or later; this is ${process.version}`)
}

/** Throws `bad-config` unless the logger has what workers call: console, for example, has no child. */
export function requireLogger(what: string, logger: unknown): void {
  const methods = typeof logger === 'object' && logger !== null ? (logger as Record<string, unknown>) : {}
  const missing = ['debug', 'info', 'warn', 'error', 'child'].find((name) => typeof methods[name] !== 'function')
  if (missing === undefined) return
  throw new DuelogError('bad-config', `logger of ${what} has no method ${missing}; give a logger such as one of pino`)
}
