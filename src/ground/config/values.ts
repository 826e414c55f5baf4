/** Parsers for settings whose string holds more than one value. */
import { isIP, isIPv4 } from 'node:net'
import { availableParallelism } from 'node:os'

export const roles = ['scheduler', 'executor', 'retrier', 'intake', 'api', 'auditor', 'history'] as const
export type Role = (typeof roles)[number]

export const apiRoles = ['viewer', 'operator', 'admin'] as const
export interface ApiToken {
  role: (typeof apiRoles)[number]
  token: string
  /** For the audit trail. */
  name: string | undefined
}

/** `all` or a comma-separated choice. */
export function rolesOf(text: string): ReadonlySet<Role> {
  return new Set(text === 'all' ? roles : (text.split(',') as Role[]))
}

/** `3`, `cpus` or `1..cpus`: the same number twice, or two. */
export function processesOf(text: string): { min: number; max: number } {
  const [min = 0, max = min] = text.split('..').map((part) => (part === 'cpus' ? availableParallelism() : Number(part)))
  return { min, max }
}

/** Comma-separated `host:port` items; spaces around an item are dropped. Undefined if an item has another form. */
export function brokersOf(text: string): string[] | undefined {
  const brokers = text.split(',').map((broker) => broker.trim())
  const right = (broker: string): boolean => {
    const port = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/,]+):(\d{1,5})$/.exec(broker)?.[1]
    return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535
  }
  return brokers.every(right) ? brokers : undefined
}

/** `role:token` or `role.name:token` items, separated by commas or line ends. Undefined if an item has another form or a token occurs twice. */
export function apiTokensOf(text: string): ApiToken[] | undefined {
  const tokens: ApiToken[] = []
  for (const pair of text.split(/,|\r?\n/)) {
    const [, role, name, token] = /^(viewer|operator|admin)(?:\.([\w-]{1,64}))?:(\S+)$/.exec(pair.trim()) ?? []
    if (role === undefined || token === undefined || tokens.some((other) => other.token === token)) return undefined
    tokens.push({ role: role as ApiToken['role'], token, name })
  }
  return tokens
}

/** Comma-separated items, without duplicates. */
export const listOf = (text: string | undefined): string[] => (text === undefined ? [] : [...new Set(text.split(','))])

/** Comma-separated addresses and networks. Undefined if an item has another form. */
export function networksOf(text: string): string[] | undefined {
  const networks = text.split(',').map((network) => network.trim())
  const right = (network: string): boolean => {
    const [address = '', prefix = '0', ...rest] = network.split('/')
    const family = isIP(address)
    return family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32)
  }
  return networks.every(right) ? networks : undefined
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
}
