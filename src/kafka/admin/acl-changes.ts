/** Plans the ACLs that principals need and lack, creates them, and finds those that are no longer needed. Nothing is deleted unasked. */
import kafkajs, { type Admin, type Kafka, type AclEntry as KafkaAcl } from 'kafkajs'
import type { AclEntry, AclOperation } from '../../../schemas/index.ts'
import { slices } from '../../concurrency/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { rootTypeOf } from '../errors/index.ts'
import { withAdmin } from './topic-changes.ts'

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs

/** What one principal needs. */
export interface AclsWanted {
  /** With its type: `User:duelog`. */
  principal: string
  entries: readonly AclEntry[]
}

export interface AclChange {
  /**
   * `surplus`: allowed on one of our names, and not needed by what was asked for. `deny`: a denial on one of our names, which is stronger than
   * what allows; it is never changed.
   */
  action: 'create' | 'keep' | 'surplus' | 'deny'
  principal: string
  resource: AclEntry['resource']
  name: string
  pattern: AclEntry['pattern']
  operation: string
  /** `*`: from everywhere. */
  host: string
}

export interface AclPlan {
  wanted: readonly AclsWanted[]
  /** DUELOG_TOPIC_PREFIX: what begins with it is ours. */
  prefix: string
}

/** ACLs of one request. */
const portion = 500

/** Nothing is written. */
export function planAcls(kafka: Kafka, plan: AclPlan): Promise<AclChange[]> {
  return withAcls(kafka, 'Looking up the ACLs', (admin) => changesOf(admin, plan))
}

/** Creates what is missing, and deletes what is surplus if told so. Resolves with the state found before. */
export function changeAcls(kafka: Kafka, plan: AclPlan, { deleteSurplus }: { deleteSurplus: boolean }): Promise<AclChange[]> {
  return withAcls(kafka, 'Changing the ACLs', async (admin) => {
    const changes = await changesOf(admin, plan)
    const of = (action: AclChange['action']): KafkaAcl[] => changes.filter((change) => change.action === action).map(kafkaAclOf)
    for (const acl of slices(of('create'), portion)) await admin.createAcls({ acl })
    // Deleted last: a principal never has less than before and after.
    if (deleteSurplus) for (const filters of slices(of('surplus'), portion)) await admin.deleteAcls({ filters })
    return changes
  })
}

async function changesOf(admin: Admin, { wanted, prefix }: AclPlan): Promise<AclChange[]> {
  const changes: AclChange[] = []
  for (const [principal, entries] of byPrincipal(wanted)) {
    const found = await aclsOf(admin, principal)
    const planned = entries.flatMap(({ operations, resource, name, pattern }) =>
      operations.map((operation) => ({ principal, resource, name, pattern, operation, host: '*' })),
    )
    const has = new Set(found.flatMap(({ isAllowed, ...acl }) => (isAllowed ? [keyOf(acl)] : [])))
    const isThere = (acl: Acl): boolean => has.has(keyOf(acl)) || has.has(keyOf({ ...acl, operation: 'All' }))
    const needed = new Map(planned.map((acl) => [keyOf(acl), acl]))
    for (const acl of needed.values()) changes.push({ action: isThere(acl) ? 'keep' : 'create', ...acl })
    const ours = new Set(planned.map(({ resource, name }) => `${resource} ${name}`))
    for (const { isAllowed, ...acl } of found) {
      if (!acl.name.startsWith(prefix) && !ours.has(`${acl.resource} ${acl.name}`)) continue
      if (!isAllowed) changes.push({ action: 'deny', ...acl })
      else if (!needed.has(keyOf(acl))) changes.push({ action: 'surplus', ...acl })
    }
  }
  return changes
}

type Acl = Omit<AclChange, 'action'>

const keyOf = ({ principal, resource, name, pattern, operation, host }: Acl): string =>
  JSON.stringify([principal, resource, name, pattern, operation, host])

/** A principal may have several roles. */
function byPrincipal(wanted: readonly AclsWanted[]): Map<string, AclEntry[]> {
  const all = new Map<string, AclEntry[]>()
  for (const { principal, entries } of wanted) all.set(principal, [...(all.get(principal) ?? []), ...entries])
  return all
}

/** The ACLs of a principal on resources that Duelog has. */
async function aclsOf(admin: Admin, principal: string): Promise<(Acl & { isAllowed: boolean })[]> {
  const { resources } = await admin.describeAcls({
    resourceType: AclResourceTypes.ANY,
    resourcePatternType: ResourcePatternTypes.ANY,
    operation: AclOperationTypes.ANY,
    permissionType: AclPermissionTypes.ANY,
    principal,
  })
  return resources.flatMap(({ resourceType, resourceName: name, resourcePatternType, acls }) => {
    const resource = nameIn(resourceTypes, resourceType)
    if (resource === undefined) return []
    const pattern = resourcePatternType === ResourcePatternTypes.PREFIXED ? 'prefixed' : 'literal'
    return acls.flatMap(({ host, operation, permissionType }) => {
      const known = nameIn(operations, operation)
      const isAllowed = permissionType === AclPermissionTypes.ALLOW
      return known === undefined ? [] : [{ principal, resource, name, pattern, operation: known, host, isAllowed } as const]
    })
  })
}

const kafkaAclOf = ({ principal, resource, name, pattern, operation, host }: AclChange): KafkaAcl => ({
  resourceType: resourceTypes[resource],
  resourceName: name,
  resourcePatternType: pattern === 'prefixed' ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
  principal,
  host,
  operation: operations[operation as keyof typeof operations],
  permissionType: AclPermissionTypes.ALLOW,
})

const resourceTypes = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  cluster: AclResourceTypes.CLUSTER,
  'transactional-id': AclResourceTypes.TRANSACTIONAL_ID,
} as const

const operations = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
  AlterConfigs: AclOperationTypes.ALTER_CONFIGS,
  Delete: AclOperationTypes.DELETE,
  Alter: AclOperationTypes.ALTER,
  All: AclOperationTypes.ALL,
} as const satisfies Record<AclOperation | 'Delete' | 'Alter' | 'All', number>

const nameIn = <Name extends string>(table: Readonly<Record<Name, number>>, number: number): Name | undefined =>
  (Object.keys(table) as Name[]).find((name) => table[name] === number)

/** Says what is missing where the brokers give only a code. */
async function withAcls(kafka: Kafka, doing: string, use: (admin: Admin) => Promise<AclChange[]>): Promise<AclChange[]> {
  return withAdmin(kafka, doing, (admin) =>
    use(admin).catch((thrown: unknown) => {
      const type = rootTypeOf(thrown)
      if (type === 'SECURITY_DISABLED')
        throw new DuelogError(
          'bad-config',
          `${doing} failed: the brokers have no authorizer (authorizer.class.name), so that everybody may do everything. Leave --acls out.`,
          { cause: thrown },
        )
      if (type === 'CLUSTER_AUTHORIZATION_FAILED')
        throw new DuelogError(
          'kafka-denied',
          `${doing} failed: the brokers refuse it. Grant Describe and, to change ACLs, Alter on the cluster to who runs this, or let an administrator run the commands of \`duelog acls --principal\`.`,
          { cause: thrown },
        )
      throw thrown
    }),
  )
}
