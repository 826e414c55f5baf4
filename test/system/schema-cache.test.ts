/** Schema ids in a data folder: used before the registry answers only where they are that registry's. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import type { Codecs } from '../../src/log/kafka/avro/codecs.ts'
import { ProcessHealth } from '../../src/program/system/health.ts'
import { knownIdsIn, openCodecs } from '../../src/program/system/schema-cache.ts'
import { topicNames, topicPlans } from '../../streams/topics/topics.ts'

/** A registry that gives each schema an id from `from` on, or none while it is away. */
async function registry(from: number): Promise<{ url: string; away(is: boolean): void }> {
  let isAway = false
  const ids = new Map<string, number>()
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const path = request.url ?? ''
      const { schema } =
        request.method === 'POST' ? (JSON.parse(Buffer.concat(parts).toString()) as { schema: string }) : { schema: '' }
      const asked = path.startsWith('/schemas/ids/') ? [...ids].find(([, id]) => path.endsWith(`/${id}`))?.[0] : undefined
      if (schema !== '' && !ids.has(schema)) ids.set(schema, from + ids.size)
      const found = path.startsWith('/schemas') ? asked !== undefined : request.method !== 'GET'
      const body = asked === undefined ? { id: ids.get(schema), error_code: 40403 } : { schema: asked }
      response.writeHead(isAway ? 503 : found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const away = (is: boolean): void => {
    isAway = is
  }
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, away }
}

const idOf = (codecs: Codecs): number =>
  codecs.definition.encode({ schedule: { at: 1 }, target: { handler: 'h' } }).readInt32BE(1)

test('a folder that was used with another cluster uses none of its ids for this one', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'duelog-known-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const ends: (() => Promise<unknown>)[] = []
  onTestFinished(async () => void (await Promise.all(ends.map((end) => end()))))
  const plans = topicPlans(topicNames('t.'), ['default'])
  const open = (registryUrl: string, clusterId: string | undefined): Promise<Codecs> => {
    const vitals = new ProcessHealth(() => {})
    const options = { registryUrl, plans, knownIds: knownIdsIn(dataDir) }
    return openCodecs(options, { dataDir, clusterId }, pino({ level: 'silent' }), vitals, ends)
  }
  const [first, other] = [await registry(1), await registry(101)]
  expect(idOf(await open(first.url, 'a'))).toBe(1)
  first.away(true)
  // Of the same cluster: at once, whether it answers or not.
  expect(idOf(await open(first.url, 'a'))).toBe(1)
  await expect(open(other.url, 'b')).rejects.toMatchObject({ code: 'foreign-data' })
  first.away(false)
  // Another cluster with a registry that knows the ids: it was asked.
  expect(idOf(await open(first.url, 'b'))).toBe(1)
}, 60_000)
