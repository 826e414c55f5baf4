/** Which errors are one group. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Run } from '../../src/answers/answers.ts'
import { errorGroupsOf } from '../../src/dashboard/model/error-groups.ts'

const died = (type: string, message: string): Run =>
  ({ errors: [{ attempt: 1, at: '', worker: 'w', type, message }] }) as unknown as Run

it.each<[string, readonly string[]]>([
  ['hexadecimal ids', Array.from({ length: 336 }, (_, index) => `no order ${(index * 2_654_435_761).toString(16)}`)],
  ['UUIDs', ['no order 6f1e2a9c-0b1d-4a7e-9a1b-3c2d1e0f9a8b', 'no order a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']],
  ['numbers', ['HTTP 503 after 12 ms', 'HTTP 503 after 7 ms']],
  [
    'base64',
    Array.from({ length: 50 }, (_, index) => `no order ${createHash('sha256').update(String(index)).digest('base64')} here`),
  ],
  ['base64 without digits', ['no order qLxZ+hTgPwVbKd/RmYcNsJfEaUt= here', 'no order WvOi/XkBeQyTzGn+FpHrLmCuDjS= here']],
  ['ids with a prefix', ['customer cus_9fKz1 is gone', 'customer cus_LmN04 is gone']],
  ['long ids before the rest', [`${'a1'.repeat(100)} is gone`, 'b2 is gone']],
])('errors that differ only in %s are one group', (_name, messages) => {
  expect(errorGroupsOf(messages.map((message) => died('Error', message)))).toMatchObject([{ count: messages.length }])
})

it.each([
  ['HTTP 429', 'HTTP 503'],
  ['HTTP/1.1 429 after 3 ms', 'HTTP/1.1 503 after 3 ms'],
  ['Request failed with status code 429', 'Request failed with status code 503'],
  ['the server answered 429: slow down', 'the server answered 503: slow down'],
  ['HTTP_429', 'HTTP_503'],
  ['GET /api/customers/orderItems of a', 'GET /api/customers/orderLists of a'],
])('%j and %j are other groups', (one, other) => {
  expect(errorGroupsOf([died('Error', one), died('Error', other)])).toHaveLength(2)
})

it('other words, and other types, are other groups', () => {
  const runs = [
    died('Error', 'no order 1'),
    died('Error', 'no customer 1'),
    died('TypeError', 'no order 1'),
    died('Error', 'no order 2'),
  ]
  expect(errorGroupsOf(runs).map(({ key, count }) => [key, count])).toEqual([
    ['Error: no order #', 2],
    ['Error: no customer #', 1],
    ['TypeError: no order #', 1],
  ])
  expect(errorGroupsOf([{ errors: [] } as unknown as Run])).toEqual([{ key: '', type: '', message: '', count: 1 }])
})
