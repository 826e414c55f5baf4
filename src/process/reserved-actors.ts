/** Reserved names of actors in logs and the audit trail. */

/** Names with a fixed meaning: no authentication, another process, Duelog itself, the roles without a name. */
const reserved: ReadonlySet<string> = new Set([
  ...['local', 'peer', 'duelog', 'system', 'unknown', 'anonymous'],
  ...['viewer', 'operator', 'admin'],
])

/** Names are equal regardless of case, outer spaces and Unicode form. */
export function isReservedActor(name: string): boolean {
  return reserved.has(name.normalize('NFKC').trim().toLowerCase())
}
