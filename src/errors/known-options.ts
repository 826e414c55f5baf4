/** Checks options that programs pass in code: without a compiler a mistyped option would be ignored silently. */

import { nearestOf } from '../../streams/text/index.ts'
import { DuelogError } from './errors.ts'

/** Throws `bad-config` for a value that is no object, and for the first unknown option. */
export function requireKnown(what: string, options: unknown, known: Readonly<Record<string, true>>): void {
  const names = Object.keys(known)
  if (typeof options !== 'object' || options === null)
    throw new DuelogError('bad-config', `${what} needs an object of options, at least { ${names[0]} }`)
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue
    const near = nearestOf(name, names)
    const hint = near === undefined ? `known are ${names.join(', ')}` : `did you mean ${near}?`
    throw new DuelogError('bad-config', `${what} has no option ${JSON.stringify(name)}; ${hint}`)
  }
}
