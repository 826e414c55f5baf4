/** Settings that are more than one value in a string. */
import { isIP, isIPv4 } from 'node:net'

export const roles = ['scheduler', 'executor', 'retrier', 'intake', 'api', 'auditor'] as const
export type Role = (typeof roles)[number]

export const apiRoles = ['viewer', 'operator', 'admin'] as const
export interface ApiToken {
  role: (typeof apiRoles)[number]
  token: string
  /** For records of who did what. */
  name: string | undefined
}

/** `all` or a comma-separated choice. */
export function rolesOf(text: string): ReadonlySet<Role> {
  return new Set(text === 'all' ? roles : (text.split(',') as Role[]))
}

/** `host:port` items between commas; spaces around an item are dropped. Undefined where one is not of that form. */
export function brokersOf(text: string): string[] | undefined {
  const brokers = text.split(',').map((broker) => broker.trim())
  const right = (broker: string): boolean => {
    const port = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/,]+):(\d{1,5})$/.exec(broker)?.[1]
    return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535
  }
  return brokers.every(right) ? brokers : undefined
}

/** `role:token` or `role.name:token` between commas or line ends. Undefined where one is not of that form, or a token is there twice. */
export function apiTokensOf(text: string): ApiToken[] | undefined {
  const tokens: ApiToken[] = []
  for (const pair of text.split(/,|\r?\n/)) {
    const [, role, name, token] = /^\s*(viewer|operator|admin)(?:\.([\w-]{1,64}))?:(\S+)\s*$/.exec(pair) ?? []
    if (role === undefined || token === undefined || tokens.some((other) => other.token === token)) return undefined
    tokens.push({ role: role as ApiToken['role'], token, name })
  }
  return tokens
}

/** Items between commas, without what is there twice. */
export const listOf = (text: string | undefined): string[] => (text === undefined ? [] : [...new Set(text.split(','))])

/** Addresses and networks between commas. Undefined where one is not of that form. */
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
