/**
 * A real broker that asks who somebody is (SASL/PLAIN, OAUTHBEARER, or a client certificate) and what he may do (StandardAuthorizer), and
 * an admin who may do everything.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import kafkajs, { type Admin } from 'kafkajs'
import type { AclEntry } from '../../schemas/access.ts'
import { changeRequestQueues } from '../../src/log/kafka/client/connection.ts'
import { BrokerNode } from '../docker/broker-node.ts'
import { distinctPorts } from '../setup/free-ports.ts'
import type { Authority } from '../tools/certificates.ts'
import { type Demand, demandsIn } from './needs.ts'
import { audience, issuer } from './token-server.ts'

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, Kafka, logLevel, ResourcePatternTypes } = kafkajs

export const password = 'hidden-word-of-all-users'
/** kafkajs signs in again 10 s before the end. */
const sessionMs = 12_000

interface Trusted {
  authority: Authority
  /** Keys of the token server. */
  jwksUrl: string
}

export class SecuredBroker {
  /** Where users sign in. */
  readonly brokers: string[]
  /** Where users show a token of the token server. A session ends after `sessionMs`. */
  readonly oauthBrokers: string[]
  /** Where users show a certificate of the authority; its CN is the name of the user. */
  readonly tlsBrokers: string[]
  /** Where everybody may do everything. */
  readonly openBrokers: string[]
  readonly admin: Admin
  readonly #node: BrokerNode
  readonly #folder: string

  private constructor(node: BrokerNode, folder: string, ports: readonly number[], admin: Admin) {
    this.#node = node
    this.#folder = folder
    this.brokers = [`127.0.0.1:${ports[0]}`]
    this.openBrokers = [`127.0.0.1:${ports[1]}`]
    this.oauthBrokers = [`127.0.0.1:${ports[2]}`]
    this.tlsBrokers = [`127.0.0.1:${ports[3]}`]
    this.admin = admin
  }

  static async start(folder: string, users: readonly string[], { authority, jwksUrl }: Trusted): Promise<SecuredBroker> {
    changeRequestQueues()
    const [client = 0, open = 0, oauth = 0, tls = 0, controller = 0] = await distinctPorts(5)
    const addresses = Object.entries({ CLIENT: client, OPEN: open, OAUTH: oauth, TLS: tls }).map(
      ([name, port]) => `${name}://127.0.0.1:${port}`,
    )
    const own = authority.sign('broker')
    const keyStore = join(folder, 'broker.pem')
    writeFileSync(keyStore, own.key + own.cert)
    const bearer = 'org.apache.kafka.common.security.oauthbearer'
    const logins = users.map((user) => `user_${user}="${password}"`).join(' ')
    const environment = {
      CLUSTER_ID: randomBytes(16).toString('base64url').replace(/^-/, 'A'),
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_CONTROLLER_QUORUM_VOTERS: `1@127.0.0.1:${controller}`,
      KAFKA_LISTENERS: `${addresses.join(',')},CONTROLLER://127.0.0.1:${controller}`,
      KAFKA_ADVERTISED_LISTENERS: addresses.join(','),
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP:
        'CLIENT:SASL_PLAINTEXT,OPEN:PLAINTEXT,OAUTH:SASL_PLAINTEXT,TLS:SSL,CONTROLLER:PLAINTEXT',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_INTER_BROKER_LISTENER_NAME: 'OPEN',
      KAFKA_SASL_ENABLED_MECHANISMS: 'PLAIN,OAUTHBEARER',
      KAFKA_LISTENER_NAME_OAUTH_SASL_ENABLED_MECHANISMS: 'OAUTHBEARER',
      KAFKA_LISTENER_NAME_OAUTH_OAUTHBEARER_SASL_JAAS_CONFIG: `${bearer}.OAuthBearerLoginModule required;`,
      KAFKA_LISTENER_NAME_OAUTH_OAUTHBEARER_SASL_SERVER_CALLBACK_HANDLER_CLASS: `${bearer}.OAuthBearerValidatorCallbackHandler`,
      KAFKA_LISTENER_NAME_OAUTH_OAUTHBEARER_SASL_OAUTHBEARER_JWKS_ENDPOINT_URL: jwksUrl,
      KAFKA_LISTENER_NAME_OAUTH_OAUTHBEARER_SASL_OAUTHBEARER_EXPECTED_ISSUER: issuer,
      KAFKA_LISTENER_NAME_OAUTH_OAUTHBEARER_SASL_OAUTHBEARER_EXPECTED_AUDIENCE: audience,
      KAFKA_LISTENER_NAME_OAUTH_OAUTHBEARER_CONNECTIONS_MAX_REAUTH_MS: String(sessionMs),
      KAFKA_LISTENER_NAME_TLS_SSL_CLIENT_AUTH: 'required',
      KAFKA_LISTENER_NAME_TLS_SSL_KEYSTORE_TYPE: 'PEM',
      KAFKA_LISTENER_NAME_TLS_SSL_KEYSTORE_LOCATION: keyStore,
      KAFKA_LISTENER_NAME_TLS_SSL_TRUSTSTORE_TYPE: 'PEM',
      KAFKA_LISTENER_NAME_TLS_SSL_TRUSTSTORE_LOCATION: authority.caFile,
      KAFKA_LISTENER_NAME_TLS_SSL_PRINCIPAL_MAPPING_RULES: 'RULE:^CN=(.*?),O=Duelog$/$1/,DEFAULT',
      KAFKA_LISTENER_NAME_CLIENT_SASL_ENABLED_MECHANISMS: 'PLAIN',
      KAFKA_LISTENER_NAME_CLIENT_PLAIN_SASL_JAAS_CONFIG: `org.apache.kafka.common.security.plain.PlainLoginModule required ${logins};`,
      KAFKA_AUTHORIZER_CLASS_NAME: 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      KAFKA_SUPER_USERS: 'User:ANONYMOUS',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR: '1',
      KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS: '1000',
    }
    const node = await BrokerNode.start(folder, environment, [
      `-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${jwksUrl}`,
      '-Dorg.slf4j.simpleLogger.log.kafka.authorizer.logger=debug',
    ])
    await node.up()
    const admin = new Kafka({ brokers: [`127.0.0.1:${open}`], logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    return new SecuredBroker(node, folder, [client, open, oauth, tls], admin)
  }

  /** What this user has asked the broker for until now. */
  demands(user: string): Demand[] {
    return demandsIn(readFileSync(join(this.#folder, 'kafka.log'), 'utf8')).filter((demand) => demand.user === user)
  }

  /** Grants each operation of each entry to the user, from everywhere. */
  async grant(user: string, entries: readonly AclEntry[]): Promise<void> {
    await this.admin.createAcls({ acl: entries.flatMap((entry) => aclsOf(user, entry)) })
  }

  /** Takes everything from the user. */
  async revoke(user: string): Promise<void> {
    await this.admin.deleteAcls({
      filters: [{ ...anyAcl, principal: `User:${user}` }],
    })
  }

  async stop(): Promise<void> {
    await this.admin.disconnect()
    await this.#node.stop()
  }
}

/** A filter that finds all. */
export const anyAcl = {
  resourceType: AclResourceTypes.ANY,
  resourcePatternType: ResourcePatternTypes.ANY,
  operation: AclOperationTypes.ANY,
  permissionType: AclPermissionTypes.ANY,
}

const resourceTypes = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  'transactional-id': AclResourceTypes.TRANSACTIONAL_ID,
  cluster: AclResourceTypes.CLUSTER,
} as const

const operations = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Delete: AclOperationTypes.DELETE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
  AlterConfigs: AclOperationTypes.ALTER_CONFIGS,
} as const

function aclsOf(user: string, { resource, name, pattern, operations: granted }: AclEntry) {
  return granted.map((operation) => ({
    resourceType: resourceTypes[resource],
    resourceName: name,
    resourcePatternType: pattern === 'prefixed' ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
    principal: `User:${user}`,
    host: '*',
    operation: operations[operation],
    permissionType: AclPermissionTypes.ALLOW,
  }))
}
