/** Plans the ACLs that principals need and lack, creates them, and finds those that are no longer needed. Nothing is deleted unasked. */
import type { AclEntry } from '../../../../schemas/index.ts'
import { slices } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { type Acl, type BrokerAdmin, type KafkaClient, rootTypeOf } from '../client/index.ts'

/** What one principal needs. */
export interface AclsWanted {
  /** With its type: `User:duelog`. */
  principal: string
  entries: readonly AclEntry[]
}

export interface AclChange extends Omit<Acl, 'operation'> {
  /**
   * `surplus`: allowed on one of our names, and not needed by what was asked for. `deny`: a denial on one of our names, which is stronger than
   * what allows; it is never changed.
   */
  action: 'create' | 'keep' | 'surplus' | 'deny'
  operation: string
}

export interface AclPlan {
  wanted: readonly AclsWanted[]
  /** DUELOG_TOPIC_PREFIX: what begins with it is ours. */
  prefix: string
}

/** ACLs of one request. */
const portion = 500

/** Nothing is written. */
export function planAcls(client: KafkaClient, plan: AclPlan): Promise<AclChange[]> {
  return withAcls(client, 'Looking up the ACLs', (admin) => changesOf(admin, plan))
}

/** Creates what is missing, and deletes what is surplus if told so. Resolves with the state found before. */
export function changeAcls(
  client: KafkaClient,
  plan: AclPlan,
  { deleteSurplus }: { deleteSurplus: boolean },
): Promise<AclChange[]> {
  return withAcls(client, 'Changing the ACLs', async (admin) => {
    const changes = await changesOf(admin, plan)
    const of = (action: AclChange['action']): Acl[] => changes.filter((change) => change.action === action) as Acl[]
    for (const acls of slices(of('create'), portion)) await admin.createAcls(acls)
    // Deleted last: a principal never has less than before and after.
    if (deleteSurplus) for (const acls of slices(of('surplus'), portion)) await admin.deleteAcls(acls)
    return changes
  })
}

async function changesOf(admin: BrokerAdmin, { wanted, prefix }: AclPlan): Promise<AclChange[]> {
  const changes: AclChange[] = []
  for (const [principal, entries] of byPrincipal(wanted)) {
    const found = await admin.aclsOf(principal)
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

const keyOf = ({ principal, resource, name, pattern, operation, host }: Omit<AclChange, 'action'>): string =>
  JSON.stringify([principal, resource, name, pattern, operation, host])

/** A principal may have several roles. */
function byPrincipal(wanted: readonly AclsWanted[]): Map<string, AclEntry[]> {
  const all = new Map<string, AclEntry[]>()
  for (const { principal, entries } of wanted) all.set(principal, [...(all.get(principal) ?? []), ...entries])
  return all
}

/** Says what is missing where the brokers give only a code. */
async function withAcls(
  client: KafkaClient,
  doing: string,
  use: (admin: BrokerAdmin) => Promise<AclChange[]>,
): Promise<AclChange[]> {
  return client.withAdmin(doing, (admin) =>
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
