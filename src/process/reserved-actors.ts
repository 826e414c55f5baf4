/** Names of who does something, as logs and the audit trail have them. */

/** Those that stand for somebody else than who could give himself the name: nobody asked, another process, Duelog itself, the bare roles. */
const reserved: ReadonlySet<string> = new Set([
  ...['local', 'peer', 'duelog', 'system', 'unknown', 'anonymous'],
  ...['viewer', 'operator', 'admin'],
])

/** Case, spaces and forms of letters make no other name. */
export function isReservedActor(name: string): boolean {
  return reserved.has(name.normalize('NFKC').trim().toLowerCase())
}
