/** The addresses of this machine, on all its interfaces. Public ones also lead to services that listen here. */
import { BlockList } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Clock } from '../../clock/index.ts'

/** Maximum age of the list, ms: with many interfaces, reading them takes milliseconds. */
const maxAgeMs = 1_000

export function ownAddresses(clock: Pick<Clock, 'steadyMs'>, read = networkInterfaces): () => BlockList {
  let known = new BlockList()
  let readAt = Number.NEGATIVE_INFINITY
  return () => {
    if (clock.steadyMs() - readAt < maxAgeMs) return known
    known = new BlockList()
    for (const { address, family } of Object.values(read()).flatMap((addresses) => addresses ?? []))
      known.addAddress(address.split('%', 1)[0] ?? '', family === 'IPv6' ? 'ipv6' : 'ipv4')
    readAt = clock.steadyMs()
    return known
  }
}
