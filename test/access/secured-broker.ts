/** A real broker that asks who somebody is (SASL/PLAIN) and what he may do (StandardAuthorizer), and an admin who may do everything. */
import { randomBytes } from 'node:crypto'
import kafkajs, { type Admin } from 'kafkajs'
import type { AclEntry } from '../../schemas/access.ts'
import { stopIdleQueueTimers } from '../../src/kafka/kafkajs/request-queue-timer.ts'
import { BrokerNode } from '../docker/broker-node.ts'
import { distinctPorts } from '../setup/free-ports.ts'

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, Kafka, logLevel, ResourcePatternTypes } = kafkajs

export const password = 'secret'

export class SecuredBroker {
  /** Where users sign in. */
  readonly brokers: string[]
  /** Where everybody may do everything. */
  readonly openBrokers: string[]
  readonly admin: Admin
  readonly #node: BrokerNode

  private constructor(node: BrokerNode, ports: readonly number[], admin: Admin) {
    this.#node = node
    this.brokers = [`127.0.0.1:${ports[0]}`]
    this.openBrokers = [`127.0.0.1:${ports[1]}`]
    this.admin = admin
  }

  static async start(folder: string, users: readonly string[]): Promise<SecuredBroker> {
    stopIdleQueueTimers()
    const [client = 0, open = 0, controller = 0] = await distinctPorts(3)
    const logins = users.map((user) => `user_${user}="${password}"`).join(' ')
    const node = await BrokerNode.start(folder, {
      CLUSTER_ID: randomBytes(16).toString('base64url').replace(/^-/, 'A'),
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_CONTROLLER_QUORUM_VOTERS: `1@127.0.0.1:${controller}`,
      KAFKA_LISTENERS: `CLIENT://127.0.0.1:${client},OPEN://127.0.0.1:${open},CONTROLLER://127.0.0.1:${controller}`,
      KAFKA_ADVERTISED_LISTENERS: `CLIENT://127.0.0.1:${client},OPEN://127.0.0.1:${open}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CLIENT:SASL_PLAINTEXT,OPEN:PLAINTEXT,CONTROLLER:PLAINTEXT',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_INTER_BROKER_LISTENER_NAME: 'OPEN',
      KAFKA_SASL_ENABLED_MECHANISMS: 'PLAIN',
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
    })
    await node.up()
    const admin = new Kafka({ brokers: [`127.0.0.1:${open}`], logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    return new SecuredBroker(node, [client, open], admin)
  }

  /** Grants each operation of each entry to the user, from everywhere. */
  async grant(user: string, entries: readonly AclEntry[]): Promise<void> {
    await this.admin.createAcls({ acl: entries.flatMap((entry) => aclsOf(user, entry)) })
  }

  /** Takes everything from the user. */
  async revoke(user: string): Promise<void> {
    await this.admin.deleteAcls({
      filters: [
        {
          resourceType: AclResourceTypes.ANY,
          resourcePatternType: ResourcePatternTypes.ANY,
          principal: `User:${user}`,
          operation: AclOperationTypes.ANY,
          permissionType: AclPermissionTypes.ANY,
        },
      ],
    })
  }

  async stop(): Promise<void> {
    await this.admin.disconnect()
    await this.#node.stop()
  }
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
