/** `duelog topics … --acls`: the ACLs of roles, planned or created, as a table or as JSON. */
import { Option } from 'commander'
import type { AclChange, AclPlan } from '../../cluster/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { numberText, type Paint, tableText } from '../terminal/index.ts'
import { accessNames, wantedOf } from './acl-entries.ts'
import { clusterIn } from './cluster.ts'

export type Verb = 'plan' | 'apply'

export const aclsOption = (): Option =>
  new Option(
    '--acls <roles=principal>',
    'also the ACLs of these roles for this principal, such as scheduler,retrier=User:duelog; may be repeated. Give all roles of a principal: others of its ACLs on names of Duelog are shown as surplus',
  ).argParser((item: string, before: string[] | undefined) => [...(before ?? []), item])

export const surplusOption = (): Option => new Option('--delete-surplus-acls', 'delete the ACLs that are shown as surplus')

export interface AclsAsked {
  /** Values of --acls. */
  items: readonly string[]
  deleteSurplus: boolean
}

/** Throws `bad-usage`. */
export function aclPlanOf(env: Record<string, string | undefined>, { items, deleteSurplus }: AclsAsked): AclPlan {
  if (items.length === 0 && deleteSurplus)
    throw new DuelogError('bad-usage', '--delete-surplus-acls needs --acls, which says what is not surplus.')
  const names = accessNames(env)
  return { wanted: wantedOf(names, items), prefix: names.prefix }
}

/** Rejects with `kafka-denied` or `bad-config`. */
export async function aclChangesOf(
  env: Record<string, string | undefined>,
  verb: Verb,
  plan: AclPlan,
  { deleteSurplus }: AclsAsked,
): Promise<AclChange[]> {
  const { clusterOf } = await import('../../cluster/index.ts')
  const { log } = clusterOf(clusterIn(env, 'duelog-topics'))
  return verb === 'plan' ? log.planAcls(plan) : log.changeAcls(plan, { deleteSurplus })
}

const colors = { create: 'green', surplus: 'yellow', deny: 'red' } as const

export function aclsText(changes: readonly AclChange[], verb: Verb, deleteSurplus: boolean, paint: Paint): string {
  const rows = changes.flatMap(({ action, principal, resource, name, pattern, operation, host }) => {
    if (action === 'keep') return []
    const shown = action === 'surplus' && deleteSurplus ? 'delete' : action
    return [
      [{ shown: paint(colors[action], shown) }, principal, resource, pattern === 'prefixed' ? `${name}*` : name, operation, host],
    ]
  })
  const isDone = verb === 'apply'
  const words = {
    create: isDone ? 'created' : 'would be created',
    keep: isDone ? 'were there' : 'are there',
    surplus: deleteSurplus ? 'deleted' : 'are surplus',
    deny: 'are denials',
  }
  const counts = (['create', 'surplus', 'deny', 'keep'] as const).flatMap((action) => {
    const count = changes.filter((change) => change.action === action).length
    return count === 0 ? [] : [`${numberText(count)} ${words[action]}`]
  })
  const table =
    rows.length === 0 ? '' : `${tableText(['ACTION', 'PRINCIPAL', 'RESOURCE', 'NAME', 'OPERATION', 'HOST'], rows, paint)}\n`
  return `${table}ACLs: ${counts.join(', ')}.\n`
}
