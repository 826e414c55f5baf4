/** Options of commands: settings of the schema, and numbers with limits. A flag overrides the environment. */
import { Option } from 'commander'
import { type Flag, flagOf, flagsFromSchema, refusalOfSecret, settings } from '../../config/index.ts'
import { DuelogError } from '../../errors/index.ts'

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

/** Settings of every command that connects to Kafka. */
export const kafkaSettings = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'DUELOG_TOPIC_PREFIX'] as const

function optionOf({ name, argument, description, env, default: value }: Flag): Option {
  const shown = value === undefined ? '' : `, default ${value}`
  // Not commander's own default, which would override the environment.
  return new Option(`${name} ${argument}`, `${description} [${env}${shown}]`)
}
