/** Settings of the schema as options of a command. A flag wins over the environment. */
import { Option } from 'commander'
import { type Flag, flagsFromSchema } from '../config/flags.ts'

/** Options for these settings, or for all. */
export function settingOptions(names?: readonly string[]): Option[] {
  const flags = flagsFromSchema()
  return (names === undefined ? flags : flags.filter(({ env }) => names.includes(env))).map(optionOf)
}

/** What every command that talks to Kafka itself has to know. */
export const kafkaSettings = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'DUELOG_TOPIC_PREFIX'] as const

function optionOf({ name, argument, description, env, default: value }: Flag): Option {
  const shown = value === undefined ? '' : `, default ${value}`
  // Not commander's own default, which would win over the environment.
  return new Option(`${name} ${argument}`, `${description} [${env}${shown}]`)
}
