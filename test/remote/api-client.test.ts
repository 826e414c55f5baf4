import { expect, test } from 'vitest'
import { unreachable } from '../../src/clients/remote/api-client.ts'

const address = { url: 'http://127.0.0.1:8080', givenBy: '--url', token: undefined }

test('a request without an answer says that its effect is unknown, and one that was not sent how to connect', () => {
  const late = unreachable(address, new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  expect(late).toMatchObject({ code: 'unreachable', message: expect.stringContaining('no answer within 30 s. Whether it did') })
  const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:8080') })
  expect(unreachable(address, refused).message).toContain('Cannot reach Duelog at http://127.0.0.1:8080 (connect ECONNREFUSED')
})
