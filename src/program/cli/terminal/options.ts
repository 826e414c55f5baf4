/** Options of commands: settings of the schema, and numbers with limits. A flag overrides the environment. */
import { InvalidArgumentError, Option } from 'commander'
import { type Flag, flagOf, flagsFromSchema, refusalOfSecret, settings } from '../../../ground/config/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'

/** Options for these settings, or for all of them, and hidden options that refuse secrets. */
export function settingOptions(names?: readonly string[]): Option[] {
  const flags = flagsFromSchema()
  const secrets = settings.filter(({ secret, client }) => secret === true && client !== true)
  return [
    ...(names === undefined ? flags : flags.filter(({ env }) => names.includes(env))).map(optionOf),
    ...secrets.map(({ name }) => refusedOption(name)),
  ]
}

/** Exists only to be refused with advice: for an unknown option, commander would print the value. */
export function refusedOption(name: string): Option {
  const refuse = (): never => {
    throw new DuelogError('bad-usage', refusalOfSecret(name))
  }
  return new Option(`${flagOf({ name })} [value]`).hideHelp().preset('').argParser(refuse)
}

function optionOf({ name, argument, description, env, default: value }: Flag): Option {
  const shown = value === undefined ? '' : `, default ${value}`
  // Not commander's own default, which would override the environment.
  return new Option(`${name} ${argument}`, `${description} [${env}${shown}]`)
}

export function number(flags: string, description: string, value: number | undefined, min: number, max: number): Option {
  return limited(flags, description, value, (text) => checked(text, min, max, Number.isFinite, 'a number'))
}

export function integer(flags: string, description: string, value: number | undefined, min: number, max: number): Option {
  return limited(flags, description, value, (text) => checked(text, min, max, Number.isInteger, 'an integer'))
}

/** One of the values, in upper or lower case. */
export function choice(flags: string, description: string, values: readonly string[]): Option {
  const parse = (text: string): string => {
    const value = text.toUpperCase()
    if (values.includes(value)) return value
    throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}.`)
  }
  // The choices are for the help and for completion.
  return new Option(flags, description).choices(values).argParser(parse)
}

function limited(flags: string, description: string, value: number | undefined, parse: (text: string) => number): Option {
  const option = new Option(flags, description).argParser(parse)
  return value === undefined ? option : option.default(value)
}

function checked(text: string, min: number, max: number, fits: (value: number) => boolean, what: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!fits(value) || value < min || value > max) throw new InvalidArgumentError(`Allowed: ${what} from ${min} to ${max}.`)
  return value
}
