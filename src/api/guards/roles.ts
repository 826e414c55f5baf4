/** Roles of callers, and the tokens that give them. */

/** viewer reads; operator also writes jobs and commands; admin may do all. */
export type Role = 'viewer' | 'operator' | 'admin'

export const rank: Record<Role, number> = { viewer: 1, operator: 2, admin: 3 }

export interface ApiToken {
  role: Role
  token: string
  /** Name of its holder, for the audit trail. */
  name?: string | undefined
}
