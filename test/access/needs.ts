/** What a broker was asked for, from the audit log of its authorizer, and which ACLs of a table nothing needed. */
import type { AclEntry } from '../../schemas/access.ts'

/** A principal wanted to do something. */
export interface Demand {
  user: string
  operation: string
  resource: AclEntry['resource']
  name: string
  /** Of the protocol. */
  request: string
  isAllowed: boolean
}

/** One ACL. */
type Acl = Pick<AclEntry, 'resource' | 'name' | 'pattern'> & { operation: string }

const line =
  /Principal = User:(\S+) is (Allowed|Denied) operation = (\w+) from host = \S+ on resource = (\w+):LITERAL:(\S+) for request = (\w+)/
const resources: Record<string, AclEntry['resource']> = {
  Topic: 'topic',
  Group: 'group',
  TransactionalId: 'transactional-id',
  Cluster: 'cluster',
}
/** What Kafka allows with another operation. */
const implied: Record<string, readonly string[]> = {
  Describe: ['Read', 'Write', 'Delete', 'Alter'],
  DescribeConfigs: ['AlterConfigs'],
}

/** `DESCRIBE_CONFIGS` is DescribeConfigs. */
const wordOf = (operation: string): string =>
  operation.toLowerCase().replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())

/** Each demand once. */
export function demandsIn(log: string): Demand[] {
  const found = new Map<string, Demand>()
  for (const text of log.split('\n')) {
    const [whole, user = '', verdict, operation = '', resource = '', name = '', request = ''] = line.exec(text) ?? []
    const kind = resources[resource]
    if (whole === undefined || kind === undefined) continue
    const demand = { user, operation: wordOf(operation), resource: kind, name, request, isAllowed: verdict === 'Allowed' }
    found.set(JSON.stringify(demand), demand)
  }
  return [...found.values()]
}

export const aclsOf = (entries: readonly AclEntry[]): Acl[] =>
  entries.flatMap(({ operations, ...entry }) => operations.map((operation) => ({ ...entry, operation })))

const allows = (acl: Acl, { resource, name, operation }: Demand): boolean =>
  acl.resource === resource &&
  (acl.pattern === 'prefixed' ? name.startsWith(acl.name) : name === acl.name) &&
  (acl.operation === operation || (implied[operation] ?? []).includes(acl.operation))

/** The demands that this ACL of the table allows, and no other one. */
function onlyBy(acl: Acl, all: readonly Acl[], demands: readonly Demand[]): Demand[] {
  const others = all.filter((each) => each !== acl)
  return demands.filter((demand) => allows(acl, demand) && !others.some((other) => allows(other, demand)))
}

/** ACLs of a table without which everything would have been allowed too. */
function unneeded(entries: readonly AclEntry[], demands: readonly Demand[]): string[] {
  const all = aclsOf(entries)
  return all
    .filter((acl) => onlyBy(acl, all, demands).length === 0)
    .map(({ operation, resource, name, pattern }) => `${operation} on ${resource} ${name}${pattern === 'prefixed' ? '*' : ''}`)
}

/** What the brokers refused. */
const refused = (demands: readonly Demand[]): string[] =>
  demands.flatMap(({ isAllowed, operation, resource, name, request }) =>
    isAllowed ? [] : [`refused: ${operation} on ${resource} ${name} (${request})`],
  )

/** What is too much in a table, and what was missing. */
export const faultsOf = (entries: readonly AclEntry[], demands: readonly Demand[]): string[] => [
  ...unneeded(entries, demands),
  ...refused(demands),
]
