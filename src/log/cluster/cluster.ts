/** The connection of a client to a cluster: its brokers and its registry, opened at the first use. */
import { topicNames, topicPlans } from '../../../streams/topics/index.ts'
import { atSteady, type Clock } from '../../ground/clock/index.ts'
import type { Config } from '../../ground/config/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import { type Certificates, hasUser } from '../../ground/network/index.ts'
import type { CertificateFiles } from '../../ground/process/index.ts'
import {
  type Codecs,
  connectLog,
  createCodecs,
  createReadingCodecs,
  type KafkaLog,
  type LogOptions,
  type RegistryAuth,
  repairSubjects,
  type SubjectStanding,
  subjectStandings,
} from '../kafka/index.ts'

/** Where the embedded registry listens by default. */
const registryUrlDefault = 'http://127.0.0.1:18081/apis/ccompat/v7'
export const topicPrefixDefault = 'duelog.'

export interface ClusterOptions extends Pick<LogOptions, 'sasl' | 'ssl' | 'logger'> {
  /** host:port of at least one broker, as a list or separated by commas. */
  brokers: string | string[]
  /** Confluent-compatible registry. Default: that of an embedded Duelog on this machine. */
  registryUrl?: string | undefined
  /** User and password, a bearer token, or a file with a bearer token, which is read again for each request. */
  registryAuth?: RegistryAuth | undefined
  /**
   * PEM texts for an https registry: its authorities, and a client certificate with its key; or the names of their files, which are read again
   * for each request. Default: the authorities that Node knows.
   */
  registrySsl?: Certificates | CertificateFiles | undefined
  /** Prefix of every topic and group. Default `duelog.`. */
  topicPrefix?: string | undefined
  /** Client id, the name of this process in the logs of the brokers. Default `duelog`. */
  clientId?: string | undefined
}

/** How the settings say to sign in to brokers and registry, and whom to trust. Every program that connects by settings uses it. */
export function signInsOf({
  sasl,
  ssl,
  registryAuth,
  registrySsl,
}: Pick<Config, 'sasl' | 'ssl' | 'registryAuth' | 'registrySsl'>): Pick<
  ClusterOptions,
  'sasl' | 'ssl' | 'registryAuth' | 'registrySsl'
> {
  return {
    ...(registryAuth === undefined ? {} : { registryAuth }),
    ...(registrySsl === undefined ? {} : { registrySsl }),
    ...(sasl === undefined ? {} : { sasl }),
    ...(ssl === undefined ? {} : { ssl: { ...ssl } }),
  }
}

export const clusterOptionNames = {
  ...{ brokers: true, registryUrl: true, registryAuth: true, registrySsl: true, topicPrefix: true },
  ...{ clientId: true, sasl: true, ssl: true, logger: true },
} as const satisfies Record<keyof ClusterOptions, true>

export interface Cluster {
  log: KafkaLog
  names: ReturnType<typeof topicNames>
  /** Registers the schemas; rejects with DuelogError `registry-unavailable`. */
  openCodecs(pools: readonly string[]): Promise<Codecs>
  /** The same for a program that only reads: it registers nothing. */
  openReadingCodecs(pools: readonly string[]): Promise<Codecs>
  /** The registered schemas of the subjects of the topics of these pools. */
  schemaStandings(pools: readonly string[]): Promise<SubjectStanding[]>
  /** Removes foreign schemas from these subjects and registers ours. Resolves with the former state. */
  repairSchemas(pools: readonly string[]): Promise<SubjectStanding[]>
}

/** Opens no connection yet. Throws DuelogError `bad-config`. */
export function clusterOf(options: ClusterOptions, onAppended?: LogOptions['onAppended']): Cluster {
  const given: unknown = typeof options.brokers === 'string' ? options.brokers.split(',') : (options.brokers ?? [])
  if (!Array.isArray(given) || !given.every((broker) => typeof broker === 'string'))
    throw new DuelogError('bad-config', 'brokers must be text or a list of texts, each host:port of a broker')
  const brokers = given.map((broker: string) => broker.trim()).filter((broker) => broker !== '')
  if (brokers.length === 0) throw new DuelogError('bad-config', 'brokers is empty; give host:port of at least one broker')
  for (const broker of brokers) {
    if (!isHostAndPort(broker))
      throw new DuelogError('bad-config', `brokers has ${JSON.stringify(broker)}; give host:port, such as 127.0.0.1:9092`)
  }
  const { sasl, ssl, logger, clientId = 'duelog', registryUrl = registryUrlDefault, registryAuth: auth, registrySsl } = options
  if (hasUser(registryUrl))
    throw new DuelogError(
      'bad-config',
      'registryUrl has a user or a password, which messages would show; give them in registryAuth',
    )
  if (!/^https?:\/\/[^/]/.test(registryUrl) || !URL.canParse(registryUrl))
    throw new DuelogError(
      'bad-config',
      `registryUrl is ${JSON.stringify(registryUrl)}; give an address such as ${registryUrlDefault}`,
    )
  const names = topicNames(options.topicPrefix ?? topicPrefixDefault)
  const registry = {
    registryUrl,
    auth,
    ssl: registrySsl,
    onRefused: (sentence: string) => logger?.warn({ event: 'schema-refused' }, sentence),
  }
  // A user who gave no address cannot know which one is meant.
  const asked = <Opened>(opening: Promise<Opened>): Promise<Opened> =>
    options.registryUrl !== undefined
      ? opening
      : opening.catch((error: unknown) => {
          if (!(error instanceof DuelogError) || error.code !== 'registry-unavailable') throw error
          const advice = 'The option registryUrl is not set, so this is where `npm start` has its registry by default. Set it.'
          throw new DuelogError(error.code, `${error.message} ${advice}`, { cause: error })
        })
  return {
    log: connectLog({ brokers, clientId, sasl, ssl, logger, ...(onAppended === undefined ? {} : { onAppended }) }),
    names,
    openCodecs: (pools) => asked(createCodecs({ ...registry, plans: topicPlans(names, pools) })),
    openReadingCodecs: (pools) => asked(createReadingCodecs({ ...registry, plans: topicPlans(names, pools) })),
    schemaStandings: (pools) => subjectStandings(registry, topicPlans(names, pools)),
    repairSchemas: (pools) => repairSubjects(registry, topicPlans(names, pools)),
  }
}

/** `host:1` to `host:65535`; an IPv6 address is in brackets. */
function isHostAndPort(broker: string): boolean {
  const [, port] = /^(?:\[[0-9a-fA-F:.%\w]+\]|[^\s:/@[\]]+):(\d{1,5})$/.exec(broker) ?? []
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535
}

export type { AclChange, AclPlan, AclsWanted, SubjectStanding, TopicChange } from '../kafka/index.ts'

/** The topics of these pools. */
export const plansOf = topicPlans

const registryWaitMs = 20_000
const againMs = 500

export interface RegistryWait {
  clock: Clock
  logger: Pick<Logger, 'warn'>
  /** Aborted: the program does not want it any more. */
  isClosed(): boolean
}

/** What `open` opens. `registry-unavailable` is tried again for 20 s. Rejects with all other errors at once. */
export async function whenRegistryIsUp<Opened>(
  open: () => Promise<Opened>,
  { clock, logger, isClosed }: RegistryWait,
): Promise<Opened> {
  const untilMs = clock.steadyMs() + registryWaitMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await open()
    } catch (error) {
      const isDown = error instanceof DuelogError && error.code === 'registry-unavailable'
      const nextMs = clock.steadyMs() + againMs
      if (!isDown || isClosed() || nextMs > untilMs) throw error
      if (isFirst)
        logger.warn({ event: 'registry-awaited', err: error }, 'The schema registry does not answer yet; it is tried for 20 s.')
      await new Promise<void>((resolve) => clock.at(atSteady(clock, nextMs), resolve))
    }
  }
}
