/** Tokens of a system under attack, and the properties of each refusal. */
import { expect } from 'vitest'
import type { ApiToken } from '../../src/server/api/context/context.ts'

export const apiTokens: ApiToken[] = [
  { role: 'admin', token: 'root-token-0123456789' },
  { role: 'operator', token: 'work-token-0123456789', name: 'ci' },
  { role: 'viewer', token: 'look-token-0123456789' },
]
export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
export type Headers = Record<string, string>
export const [admin, operator, viewer] = apiTokens.map(({ token }) => bearer(token)) as [Headers, Headers, Headers]

export function expectRefusal(answer: { statusCode: number; headers: object; json(): { code: string } }, statuses: number[]) {
  expect(statuses).toContain(answer.statusCode)
  expect(answer.json().code).toBeTypeOf('string')
}
