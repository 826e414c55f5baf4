/** Options that take numbers, with their limits in the message. */
import { InvalidArgumentError, Option } from 'commander'

export function number(flags: string, description: string, value: number | undefined, min: number, max: number): Option {
  return limited(flags, description, value, (text) => checked(text, min, max, Number.isFinite, 'a number'))
}

export function integer(flags: string, description: string, value: number | undefined, min: number, max: number): Option {
  return limited(flags, description, value, (text) => checked(text, min, max, Number.isInteger, 'an integer'))
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
