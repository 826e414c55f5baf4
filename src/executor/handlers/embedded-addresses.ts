/**
 * IPv4 addresses embedded in an IPv6 address. IPv6 has several ways to embed one, and gateways, tunnels and the operating system
 * follow them. A rule that denies an IPv4 address has to deny all of these.
 */
import { isIP } from 'node:net'
import { ipv6Groups } from '../../network/index.ts'

/** The address without its zone, and each IPv4 address in it; empty for text that is no address. */
export function meaningsOf(address: string): string[] {
  const [bare = ''] = address.split('%', 1)
  const family = isIP(bare)
  if (family !== 6) return family === 4 ? [bare] : []
  return [bare, ...embeddedIn(ipv6Groups(bare))]
}

function embeddedIn(groups: readonly number[]): string[] {
  const at = (index: number): number => groups[index] ?? 0
  const starts = (...wanted: number[]): boolean => wanted.every((group, index) => at(index) === group)
  const ipv4 = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')
  const last = ipv4(at(6), at(7))
  const found: string[] = []
  // IPv4-mapped, -compatible and -translated: ::ffff:a.b.c.d, ::a.b.c.d, ::ffff:0:a.b.c.d.
  if (starts(0, 0, 0, 0, 0, 0xffff) || starts(0, 0, 0, 0, 0xffff, 0)) found.push(last)
  if (starts(0, 0, 0, 0, 0, 0) && at(6) !== 0) found.push(last)
  // NAT64: the well-known prefix, and that of a site, where the address follows 96 bits, or 48 bits and is split around eight
  // zero bits.
  if (starts(0x64, 0xff9b, 0, 0, 0, 0)) found.push(last)
  if (starts(0x64, 0xff9b, 1)) found.push(last, ipv4(at(3), ((at(4) & 255) << 8) | (at(5) >> 8)))
  // 6to4.
  if (starts(0x2002)) found.push(ipv4(at(1), at(2)))
  // Teredo: its server, and the client with all bits inverted.
  if (starts(0x2001, 0)) found.push(ipv4(at(2), at(3)), ipv4(at(6) ^ 0xffff, at(7) ^ 0xffff))
  // ISATAP, in any network.
  if ((at(4) & 0xfdff) === 0 && at(5) === 0x5efe) found.push(last)
  return found
}
