/** Commands against an API that requires tokens and has no owners. */
import { expect, it } from 'vitest'
import { duelogHere, type Ended, expectSentence, systemOfThisFile } from './built-program.ts'

const secrets = { viewer: 'v'.repeat(32), operator: 'o'.repeat(32) }
const bed = systemOfThisFile('token', {
  DUELOG_API_TOKENS: Object.entries(secrets)
    .map(([role, token]) => `${role}:${token}`)
    .join(','),
  DUELOG_ROLES: 'api',
})
const job = JSON.stringify({ id: 'a', schedule: { everyMs: 60_000 }, target: { handler: 'noop' } })

const as = (token: string | undefined, args: string[], input = ''): Promise<Ended> =>
  duelogHere(args, { env: { ...bed.env, ...(token === undefined ? {} : { DUELOG_TOKEN: token }) }, input })

it.each([
  ['jobs', 'list'],
  ['jobs', 'apply', '-'],
])('duelog %s %s says that it needs a token, or another role', async (...args) => {
  const none = await as(undefined, args, job)
  expect(none.code).toBe(1)
  expectSentence(none, 'token')
  const wrong = await as('x'.repeat(32), args, job)
  expect(wrong.code).toBe(1)
  expectSentence(wrong, 'token')
  expect(wrong.err).not.toContain('xxxx')
})

it('a viewer may read and not write', async () => {
  const refused = await as(secrets.viewer, ['jobs', 'apply', '-'], job)
  expect(refused.code).toBe(1)
  expectSentence(refused, 'viewer')
})

it('a partition without an owner has its own exit code', async () => {
  const ended = await as(secrets.viewer, ['jobs', 'get', 'a'])
  expect(ended.code).toBe(3)
  expect(ended.err).toMatch(/^duelog: [^\n]+\n$/)
})

it('jobs that no owner has applied yet are durable, and it says so', async () => {
  expect(await as(secrets.operator, ['jobs', 'apply', '-'], job)).toEqual({
    code: 0,
    out: '1 job applied\n',
    err: expect.stringContaining('durable'),
    json: expect.any(Function),
  })
})
