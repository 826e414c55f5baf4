/** Tokens for AWS MSK, by the real signer with static credentials. No request leaves this machine. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { mskToken } from '../../../src/log/kafka/client/sign-in.ts'

test('a token is a signed request to the cluster of the region, for 15 min', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hidden')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { value, livesMs } = await mskToken('eu-central-1')
  const url = new URL(Buffer.from(value, 'base64url').toString())
  expect(url.hostname).toBe('kafka.eu-central-1.amazonaws.com')
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    Action: 'kafka-cluster:Connect',
    'X-Amz-Credential': expect.stringMatching(/^AKIDEXAMPLE\/\d{8}\/eu-central-1\/kafka-cluster\/aws4_request$/),
    'X-Amz-Expires': '900',
    'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(livesMs).toBeGreaterThan(600_000)
  expect(livesMs).toBeLessThanOrEqual(900_000)
})

test('without the signer, the message says what to install', async () => {
  await expect(mskToken('eu-central-1', 'a-signer-that-is-absent')).rejects.toMatchObject({
    code: 'bad-config',
    message: expect.stringMatching(/npm install a-signer-that-is-absent$/),
  })
})
