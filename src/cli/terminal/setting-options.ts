/** Settings of the schema as options of a command. A flag wins over the environment. */
import { Option } from 'commander'
import { type Flag, flagOf, flagsFromSchema, refusalOfSecret, settings } from '../../config/index.ts'
import { DuelogError } from '../../errors/index.ts'

/** Options for these settings, or for all; and those that a secret must not be given by. */
export function settingOptions(names?: readonly string[]): Option[] {
  const flags = flagsFromSchema()
  const secrets = settings.filter(({ secret, client }) => secret === true && client !== true)
  return [
    ...(names === undefined ? flags : flags.filter(({ env }) => names.includes(env))).map(optionOf),
    ...secrets.map(({ name }) => refusedOption(name)),
  ]
}

/** It is known only to be refused with what to do instead: of an unknown one commander would repeat the value. */
export function refusedOption(name: string): Option {
  const refuse = (): never => {
    throw new DuelogError('bad-usage', refusalOfSecret(name))
  }
  return new Option(`${flagOf({ name })} [value]`).hideHelp().preset('').argParser(refuse)
}

/** What every command that talks to Kafka itself has to know. */
export const kafkaSettings = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'DUELOG_TOPIC_PREFIX'] as const

function optionOf({ name, argument, description, env, default: value }: Flag): Option {
  const shown = value === undefined ? '' : `, default ${value}`
  // Not commander's own default, which would win over the environment.
  return new Option(`${name} ${argument}`, `${description} [${env}${shown}]`)
}
