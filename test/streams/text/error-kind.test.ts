/** Which errors are of one kind. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { errorKindChars, errorKindOf } from '../../../streams/text/error-kind.ts'

const kindsOf = (messages: readonly string[]): string[] => [
  ...new Set(messages.map((message) => errorKindOf({ type: 'Error', message }))),
]

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
])('errors that differ only in %s are of one kind', (_name, messages) => {
  expect(kindsOf(messages)).toHaveLength(1)
})

it.each([
  ['HTTP 429', 'HTTP 503'],
  ['HTTP/1.1 429 after 3 ms', 'HTTP/1.1 503 after 3 ms'],
  ['Request failed with status code 429', 'Request failed with status code 503'],
  ['the server answered 429: slow down', 'the server answered 503: slow down'],
  ['HTTP_429', 'HTTP_503'],
  ['GET /api/customers/orderItems of a', 'GET /api/customers/orderLists of a'],
  ['no order 1', 'no customer 1'],
])('%j and %j are of two kinds', (one, other) => {
  expect(kindsOf([one, other])).toHaveLength(2)
})

it('the type is part of the kind, and a kind is short', () => {
  expect(errorKindOf({ type: 'TypeError', message: 'no order 1' })).toBe('TypeError: no order #')
  expect(errorKindOf({ type: 'E', message: 'x '.repeat(1_000_000) })).toHaveLength(errorKindChars)
})
