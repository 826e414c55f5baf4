/** The rules between settings. */

import type { Environment } from '../../../schemas/index.ts'
import { hasUser } from '../network/index.ts'
import { isReservedActor } from '../process/index.ts'
import { saslProblems } from './secrets.ts'
import { bad, named, settingByName } from './settings.ts'
import { apiTokensOf, brokersOf, isLoopback, listOf, networksOf, processesOf, rolesOf } from './values.ts'

/** Problems that ajv cannot find: wrong items of lists, and settings that need or exclude one another. */
export function crossFieldProblems(raw: Environment): string[] {
  const found: string[] = []
  const demand = (right: boolean, sentence: string): void => {
    if (!right) found.push(sentence)
  }
  if (raw.KAFKA_BROKERS !== undefined && !brokersOf(raw.KAFKA_BROKERS)) found.push(bad('KAFKA_BROKERS', raw.KAFKA_BROKERS))
  if (raw.DUELOG_API_TOKENS !== undefined) found.push(...tokenProblems(raw.DUELOG_API_TOKENS))
  for (const name of ['SCHEMA_REGISTRY_URL', 'DUELOG_JWT_JWKS_URL'] as const) {
    const advice =
      name === 'SCHEMA_REGISTRY_URL' ? 'set SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD instead' : 'leave them out'
    demand(!hasUser(raw[name]), `${named(name)} has a user or a password, which logs would show; ${advice}.`)
  }
  found.push(...registryProblems(raw))
  if (!networksOf(raw.DUELOG_HTTP_DENY)) found.push(bad('DUELOG_HTTP_DENY', raw.DUELOG_HTTP_DENY))
  if (raw.DUELOG_HTTP_ALLOW !== undefined && !networksOf(raw.DUELOG_HTTP_ALLOW))
    found.push(bad('DUELOG_HTTP_ALLOW', raw.DUELOG_HTTP_ALLOW))
  found.push(...intakeClashes(raw))
  for (const name of ['DUELOG_JWT_ISSUER', 'DUELOG_JWT_AUDIENCE'] as const) {
    demand(
      (raw.DUELOG_JWT_JWKS_URL === undefined) === (raw[name] === undefined),
      `${named(name)} and DUELOG_JWT_JWKS_URL must be set together.`,
    )
  }
  demand(
    raw.DUELOG_JWT_JWKS_URL === undefined || raw.DUELOG_API_TOKENS !== undefined,
    `${named('DUELOG_JWT_JWKS_URL')} needs DUELOG_API_TOKENS as well, because the processes of one system call each other with one of its tokens.`,
  )
  demand(
    raw.DUELOG_API_TOKENS !== undefined || isLoopback(raw.DUELOG_HTTP_HOST),
    `${named('DUELOG_HTTP_HOST')} is "${raw.DUELOG_HTTP_HOST}", which other machines can reach; set DUELOG_API_TOKENS, or use a loopback address such as 127.0.0.1.`,
  )
  demand(
    (raw.DUELOG_HTTPS_CERT_FILE === undefined) === (raw.DUELOG_HTTPS_KEY_FILE === undefined),
    `${named('DUELOG_HTTPS_CERT_FILE')} and DUELOG_HTTPS_KEY_FILE must be set together.`,
  )
  demand(
    raw.DUELOG_LEAD_MS <= raw.DUELOG_LEAD_MS_MAX,
    `${named('DUELOG_LEAD_MS')} is ${raw.DUELOG_LEAD_MS}, more than DUELOG_LEAD_MS_MAX, which is ${raw.DUELOG_LEAD_MS_MAX}.`,
  )
  found.push(...processProblems(raw))
  demand(
    raw.DUELOG_ROLES !== 'intake' ||
      raw.DUELOG_INTAKE_ETF1_TOPICS !== undefined ||
      raw.DUELOG_INTAKE_KARAFKA_TOPICS !== undefined,
    `${named('DUELOG_ROLES')} is only intake, but there is no topic for it to read; set DUELOG_INTAKE_ETF1_TOPICS or DUELOG_INTAKE_KARAFKA_TOPICS.`,
  )
  const hasMechanism = raw.KAFKA_SASL_MECHANISM !== undefined
  found.push(...saslProblems(raw))
  for (const name of ['KAFKA_SSL_CA_FILE', 'KAFKA_SSL_CERT_FILE', 'KAFKA_SSL_KEY_FILE'] as const) {
    demand(raw.KAFKA_SSL_ENABLED || raw[name] === undefined, `${named(name)} is set, but KAFKA_SSL_ENABLED is false.`)
  }
  demand(
    (raw.KAFKA_SSL_CERT_FILE === undefined) === (raw.KAFKA_SSL_KEY_FILE === undefined),
    `${named('KAFKA_SSL_CERT_FILE')} and KAFKA_SSL_KEY_FILE must be set together.`,
  )
  demand(
    raw.KAFKA_BROKERS !== undefined || (!hasMechanism && !raw.KAFKA_SSL_ENABLED),
    'KAFKA_SASL_… and KAFKA_SSL_… are for brokers of your own; set KAFKA_BROKERS, or leave them out.',
  )
  return [...found, ...portClashes(raw)]
}

function registryProblems(raw: Environment): string[] {
  const { SCHEMA_REGISTRY_URL: url, SCHEMA_REGISTRY_USERNAME: user, SCHEMA_REGISTRY_PASSWORD: password } = raw
  const files = ['SCHEMA_REGISTRY_CA_FILE', 'SCHEMA_REGISTRY_CERT_FILE', 'SCHEMA_REGISTRY_KEY_FILE'] as const
  const given = [...files, 'SCHEMA_REGISTRY_USERNAME' as const, 'SCHEMA_REGISTRY_TOKEN' as const].filter(
    (name) => raw[name] !== undefined,
  )
  const rules: [right: boolean, sentence: string][] = [
    [
      (user === undefined) === (password === undefined),
      `${named('SCHEMA_REGISTRY_USERNAME')} and SCHEMA_REGISTRY_PASSWORD must be set together.`,
    ],
    [
      user === undefined || raw.SCHEMA_REGISTRY_TOKEN === undefined,
      `${named('SCHEMA_REGISTRY_USERNAME')} and SCHEMA_REGISTRY_TOKEN are both set; leave one of them out.`,
    ],
    [
      (raw.SCHEMA_REGISTRY_CERT_FILE === undefined) === (raw.SCHEMA_REGISTRY_KEY_FILE === undefined),
      `${named('SCHEMA_REGISTRY_CERT_FILE')} and SCHEMA_REGISTRY_KEY_FILE must be set together.`,
    ],
    [
      url !== undefined || given.length === 0,
      `${named(given[0] ?? '')} is for a registry of your own; set SCHEMA_REGISTRY_URL, or leave it out.`,
    ],
  ]
  for (const name of files)
    rules.push([
      raw[name] === undefined || url === undefined || url.startsWith('https:'),
      `${named(name)} is set, but SCHEMA_REGISTRY_URL does not begin with https.`,
    ])
  return rules.flatMap(([right, sentence]) => (right ? [] : [sentence]))
}

function processProblems(raw: Environment): string[] {
  const given = raw.DUELOG_EXECUTOR_PROCESSES ?? '0'
  const { min, max } = processesOf(given)
  const says = `${named('DUELOG_EXECUTOR_PROCESSES')} is ${given}`
  if (max > 0 && !rolesOf(raw.DUELOG_ROLES).has('executor'))
    return [`${says}, but DUELOG_ROLES has no executor; add it, or leave this out.`]
  return min <= max ? [] : [`${says}, which is ${min} to ${max} here; write the smaller number first.`]
}

/** Problems name an item by its position, because any part of its text may be a token. */
function tokenProblems(text: string): string[] {
  const tokens = apiTokensOf(text)
  if (tokens === undefined) return [bad('DUELOG_API_TOKENS', undefined)]
  const { tokenCharsMin = 0 } = settingByName.get('DUELOG_API_TOKENS') ?? {}
  return tokens.flatMap(({ token, name }, index) => [
    ...(token.length < tokenCharsMin
      ? [
          `DUELOG_API_TOKENS has a token in its item ${index + 1} that is short enough to be guessed; allowed: at least ${tokenCharsMin} characters, for example the output of openssl rand -hex 16.`,
        ]
      : []),
    ...(name !== undefined && isReservedActor(name)
      ? [`DUELOG_API_TOKENS has a name in its item ${index + 1} that the audit trail uses for other callers; choose another one.`]
      : []),
  ])
}

/** A topic must not be in both lists, and Duelog's own topics must be in neither. */
function intakeClashes(raw: Environment): string[] {
  const lists = (['DUELOG_INTAKE_ETF1_TOPICS', 'DUELOG_INTAKE_KARAFKA_TOPICS'] as const).map((name) => ({
    name,
    topics: listOf(raw[name]),
  }))
  const own = lists.flatMap(({ name, topics }) =>
    topics
      .filter((topic) => topic.startsWith(raw.DUELOG_TOPIC_PREFIX))
      .map(
        (topic) =>
          `${named(name)} has ${topic}, which is one of Duelog's own topics; choose another topic, or another DUELOG_TOPIC_PREFIX.`,
      ),
  )
  const both = lists[0]?.topics.filter((topic) => lists[1]?.topics.includes(topic)) ?? []
  return [
    ...own,
    ...both.map(
      (topic) =>
        `${lists[0]?.name} and ${lists[1]?.name} both have ${topic}; leave it in the list of the scheduler that writes it.`,
    ),
  ]
}

function portClashes(raw: Environment): string[] {
  const kafka = raw.DUELOG_EMBEDDED_KAFKA_PORT
  const uses: [name: string, port: number][] = [['DUELOG_HTTP_PORT', raw.DUELOG_HTTP_PORT]]
  if (raw.KAFKA_BROKERS === undefined)
    uses.push(['DUELOG_EMBEDDED_KAFKA_PORT', kafka], ['DUELOG_EMBEDDED_KAFKA_PORT + 1', kafka + 1])
  if (raw.SCHEMA_REGISTRY_URL === undefined) uses.push(['DUELOG_EMBEDDED_REGISTRY_PORT', raw.DUELOG_EMBEDDED_REGISTRY_PORT])
  return uses.flatMap(([name, port], index) => {
    if (port > 65_535)
      return [`${named('DUELOG_EMBEDDED_KAFKA_PORT')} is ${kafka}; allowed: at most 65534, because the next port is used too.`]
    const earlier = uses.slice(0, index).find((other) => other[1] === port)
    return earlier ? [`${earlier[0]} and ${name} are both ${port}; set two different ports.`] : []
  })
}
