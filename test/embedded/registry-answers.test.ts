/** A registry that is slow at first is waited for: it ended a process whose jobs were firing. */
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { answers } from '../../src/program/embedded/registry.ts'

/** A registry that leaves its first questions without an answer. */
async function slowRegistry(unanswered: number): Promise<{ url: string; asked(): number }> {
  let asked = 0
  const server = createServer((_, response) => {
    if (++asked > unanswered) response.end('[]')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}`, asked: () => asked }
}

test('a request without an answer is repeated', async () => {
  const registry = await slowRegistry(2)
  await answers(registry.url, 200)
  expect(registry.asked()).toBeGreaterThan(2)
})

test('and not for ever', async () => {
  const registry = await slowRegistry(Number.POSITIVE_INFINITY)
  await expect(answers(registry.url, 20)).rejects.toThrow(/timeout/)
})
