import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { jobDefinitionSchema } from '../../../schemas/generated.ts'
import { avroType } from '../../../src/log/kafka/avro/avro-type.ts'
import {
  areSchemasKnown,
  type Codecs,
  createCodecs,
  createCodecsEarly,
  type EarlyCodecsOptions,
  type KnownIds,
} from '../../../src/log/kafka/avro/codecs.ts'
import { completeDefinition } from '../../../streams/definitions/defaults.ts'
import { type TopicPlan, topicNames, topicPlans } from '../../../streams/topics/topics.ts'
import { registryUrl, uniquePrefix } from '../harness.ts'

const plansOf = (prefix: string): TopicPlan[] => topicPlans(topicNames(prefix), ['default'])
const open = (prefix = uniquePrefix(), knownIds?: KnownIds): Promise<Codecs> =>
  createCodecs({ registryUrl, plans: plansOf(prefix), knownIds })
const idOf = (codecs: Codecs): number =>
  codecs.definition.encode({ schedule: { at: 1 }, target: { handler: 'h' } }).readInt32BE(1)

async function register(subject: string, schema: unknown): Promise<number> {
  const response = await fetch(`${registryUrl}/subjects/${subject}/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ schema: JSON.stringify(schema) }),
  })
  return ((await response.json()) as { id: number }).id
}

const setTransitive = (subject: string): Promise<unknown> =>
  fetch(`${registryUrl}/config/${subject}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ compatibility: 'BACKWARD_TRANSITIVE' }),
  })

/** A registry with the answers of the test. */
async function fakeRegistry(answer: (path: string, method: string) => { status: number; body: unknown }): Promise<string> {
  const server: Server = createServer((request, response) => {
    const { status, body } = answer(request.url ?? '', request.method ?? '')
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

describe('codecs with a registry', () => {
  test('are the same for processes that start at one moment', async () => {
    for (let times = 0; times < 5; times++) {
      const prefix = uniquePrefix()
      const ids = (await Promise.all(Array.from({ length: 6 }, () => open(prefix)))).map(idOf)
      expect(new Set(ids).size).toBe(1)
    }
  })

  test('register every schema at its subjects, backward compatible with all versions', async () => {
    const prefix = uniquePrefix()
    await open(prefix)
    for (const { topic } of plansOf(prefix)) {
      const config = (await (await fetch(`${registryUrl}/config/${topic}-value`)).json()) as { compatibilityLevel: string }
      expect(config.compatibilityLevel).toBe('BACKWARD_TRANSITIVE')
    }
    const latest = (await (await fetch(`${registryUrl}/subjects/${prefix}jobs-value/versions/latest`)).json()) as {
      schema: string
    }
    // Readers can find units and limits in the registry.
    expect(JSON.parse(latest.schema)).toEqual(jobDefinitionSchema)
  })

  test('get the same id each time, and for each topic of the same schema', async () => {
    const prefix = uniquePrefix()
    expect(idOf(await open(prefix))).toBe(idOf(await open(prefix)))
    expect(idOf(await open())).toBe(idOf(await open()))
  })

  test('read what another version of the schema wrote', async () => {
    const codecs = await open()
    const fields = jobDefinitionSchema.fields.filter(({ name }) => name === 'schedule' || name === 'target')
    const id = await register(`${uniquePrefix()}older-value`, { ...jobDefinitionSchema, fields })
    const older = avroType({ ...jobDefinitionSchema, fields })
    const { schedule, target } = completeDefinition({ schedule: { at: 9 }, target: { handler: 'h' } })
    const head = Buffer.alloc(5)
    head.writeInt32BE(id, 1)
    const decoded = await codecs.definition.decode(Buffer.concat([head, older.toBuffer({ schedule, target })]))
    expect(decoded).toMatchObject({ schedule: { at: 9 }, target: { handler: 'h' }, leaseMs: 30_000 })
  })

  test('call an id that the registry does not know undecodable', async () => {
    const codecs = await open()
    const unknown = Buffer.from([0, 0x7f, 0xff, 0xff, 0xfe, 1, 2, 3])
    await expect(codecs.definition.decode(unknown)).rejects.toMatchObject({ code: 'undecodable' })
    await expect(codecs.definition.decode(unknown)).rejects.toMatchObject({ code: 'undecodable' })
  })

  test('report that the registry cannot be reached', async () => {
    const plans = plansOf(uniquePrefix())
    await expect(createCodecs({ registryUrl: 'http://127.0.0.1:1', plans })).rejects.toMatchObject({
      code: 'registry-unavailable',
    })
  })

  test('tell an address without its path from a registry that is away', async () => {
    const plans = plansOf(uniquePrefix())
    const { origin } = new URL(registryUrl)
    await expect(createCodecs({ registryUrl: origin, plans })).rejects.toThrow('A server answered HTTP 404. Check the path')
    await expect(createCodecs({ registryUrl: 'http://127.0.0.1:1', plans })).rejects.toThrow('Check that the registry runs')
  })

  test('distinguish an outage from an unknown id while they decode', async () => {
    let down = false
    const url = await fakeRegistry((path, method) => {
      if (down) return { status: 503, body: { message: 'down' } }
      if (path.startsWith('/config') && method === 'GET') return { status: 404, body: { message: 'none' } }
      if (path.startsWith('/schemas')) return { status: 404, body: { error_code: 40403 } }
      return { status: 200, body: { id: 5 } }
    })
    const codecs = await createCodecs({ registryUrl: url, plans: plansOf(uniquePrefix()) })
    down = true
    await expect(codecs.command.decode(Buffer.from([0, 0, 0, 0, 77, 1]))).rejects.toMatchObject({ code: 'registry-unavailable' })
    down = false
    await expect(codecs.command.decode(Buffer.from([0, 0, 0, 0, 78, 1]))).rejects.toMatchObject({ code: 'undecodable' })
  })

  test('pass over records that name a schema over the length limit, and do not wait', async () => {
    const schema = JSON.stringify({ type: 'string', doc: 'x'.repeat(5 * 1024 * 1024) })
    const url = await fakeRegistry((path, method) => {
      if (path.startsWith('/config') && method === 'GET') return { status: 404, body: { message: 'none' } }
      if (path === '/schemas/ids/78') return { status: 503, body: { schema } }
      if (path.startsWith('/schemas')) return { status: 200, body: { schema } }
      return { status: 200, body: { id: 5 } }
    })
    const { command } = await createCodecs({ registryUrl: url, plans: plansOf(uniquePrefix()) })
    const named = (id: number) => (async () => command.decode(Buffer.from([0, 0, 0, 0, id, 1])))()
    await expect(named(77)).rejects.toMatchObject({ code: 'undecodable' })
    // The answer of an unreachable registry has no effect.
    await expect(named(78)).rejects.toMatchObject({ code: 'registry-unavailable' })
  })

  test('register the shipped files byte for byte', async () => {
    const prefix = uniquePrefix()
    await open(prefix)
    for (const { topic, schema } of plansOf(prefix)) {
      const file = readFileSync(new URL(`../../../schemas/${schema}.avsc`, import.meta.url), 'utf8')
      // Like a client with auto.register.schemas=false.
      const response = await fetch(`${registryUrl}/subjects/${topic}-value`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ schema: file }),
      })
      expect(await response.json()).toMatchObject({ version: 1, schema: file })
    }
  })

  test('register no second version of a schema whose text differs only in format, as earlier releases wrote it', async () => {
    const prefix = uniquePrefix()
    const id = await register(`${prefix}jobs-value`, jobDefinitionSchema)
    const codecs = await open(prefix)
    expect(await (await fetch(`${registryUrl}/subjects/${prefix}jobs-value/versions`)).json()).toEqual([1])
    expect(idOf(codecs)).toBe(id)
  })

  test('start although a foreign version blocks a subject: the schema gets its id elsewhere, and a warning says so', async () => {
    const prefix = uniquePrefix()
    const subject = `${prefix}jobs-value`
    // The release before, and a client with auto.register.schemas=true that leaves out a field.
    await register(subject, { ...jobDefinitionSchema, fields: jobDefinitionSchema.fields.slice(0, -1) })
    await setTransitive(subject)
    const fields = jobDefinitionSchema.fields.filter(({ name }) => name !== 'target')
    expect(await register(subject, { ...jobDefinitionSchema, fields })).toBeGreaterThan(0)
    const said: string[] = []
    const plans = plansOf(prefix)
    const codecs = await createCodecs({ registryUrl, plans, onRefused: (sentence) => said.push(sentence) })
    expect(said).toEqual([expect.stringContaining(subject)])
    expect(said[0]).toContain('duelog schemas repair')
    const named = (await (await fetch(`${registryUrl}/schemas/ids/${idOf(codecs)}`)).json()) as { schema: string }
    expect(JSON.parse(named.schema)).toEqual(jobDefinitionSchema)
    // Another process, and the next start, get the same result.
    expect(idOf(await open(prefix))).toBe(idOf(codecs))

    const reader = await open(uniquePrefix())
    const bytes = codecs.definition.encode({ schedule: { at: 1 }, target: { handler: 'h' } })
    expect(await reader.definition.decode(bytes)).toMatchObject({ target: { handler: 'h' } })
  })
})

describe('known ids', () => {
  const remembering = (ids: Record<string, string> = {}): KnownIds & { ids: Record<string, string> } => {
    const store = {
      ids,
      read: async () => store.ids,
      write: async (next: Record<string, string>) => {
        store.ids = next
      },
    }
    return store
  }

  test('are recorded, and a second start finds them right', async () => {
    const prefix = uniquePrefix()
    const store = remembering()
    const codecs = await open(prefix, store)
    expect(Object.keys(store.ids)).toContain(String(idOf(codecs)))
    expect(Object.keys(store.ids)).toHaveLength(12)
    await open(prefix, store)
  })

  test('refuse a registry in which one of our ids means another schema', async () => {
    const prefix = uniquePrefix()
    const store = remembering()
    const id = idOf(await open(prefix, store))
    store.ids = { ...store.ids, [id]: 'another fingerprint' }
    await expect(open(prefix, store)).rejects.toMatchObject({
      code: 'foreign-data',
      message: expect.stringContaining(`id ${id}`),
    })
  })

  test('are remembered up to the number that a start can look up, also if an earlier version remembered more', async () => {
    const asked = new Set<string>()
    const url = await fakeRegistry((path, method) => {
      if (path.startsWith('/config') && method === 'GET') return { status: 404, body: { message: 'none' } }
      if (path.startsWith('/schemas')) asked.add(path)
      if (path.startsWith('/schemas')) return { status: 200, body: { schema: '"string"' } }
      return { status: 200, body: { id: 5 } }
    })
    const store = remembering()
    const { command } = await createCodecs({ registryUrl: url, plans: plansOf(uniquePrefix()), knownIds: store })
    for (let id = 1_000; id < 1_600; id++) {
      const bytes = Buffer.alloc(6)
      bytes.writeInt32BE(id, 1)
      await expect((async () => command.decode(bytes))()).rejects.toMatchObject({ code: 'undecodable' })
    }
    expect(Object.keys(store.ids)).toHaveLength(500)
    for (let id = 3_000; id < 3_700; id++) store.ids[id] = store.ids[1_000] ?? ''
    asked.clear()
    await createCodecs({ registryUrl: url, plans: plansOf(uniquePrefix()), knownIds: store })
    expect(asked.size).toBe(500)
  })

  test('refuse a registry that does not know one of our ids any more', async () => {
    const store = remembering({ '2147483646': 'fingerprint' })
    await expect(open(uniquePrefix(), store)).rejects.toMatchObject({ code: 'foreign-data' })
  })
})

describe('codecs that wait for no registry', () => {
  const kept = (ids: Record<string, string> = {}): KnownIds & { ids: Record<string, string> } => ({
    ids,
    async read() {
      return this.ids
    },
    async write(written) {
      this.ids = written
    },
  })
  const early = (url: string, knownIds: KnownIds, how: Partial<EarlyCodecsOptions> = {}) => {
    const [ended, away, foreign] = [new AbortController(), Promise.withResolvers<unknown>(), Promise.withResolvers<Error>()]
    onTestFinished(() => ended.abort())
    const options = { registryUrl: url, plans: plansOf(uniquePrefix()), knownIds, signal: ended.signal }
    const proof = { isProven: true, onProven: async () => {}, ...how }
    const codecs = createCodecsEarly({ ...options, ...proof, onAway: away.resolve, onForeign: foreign.resolve })
    return { codecs, away: away.promise, foreign: foreign.promise }
  }
  const nobody = 'http://127.0.0.1:1'

  test('write with known ids while the registry is unreachable', async () => {
    const knownIds = kept()
    const id = idOf(await open(uniquePrefix(), knownIds))
    expect(await areSchemasKnown(knownIds)).toBe(true)
    const { codecs, away } = early(nobody, knownIds)
    const { definition } = await codecs
    expect(definition.encode({ schedule: { at: 1 }, target: { handler: 'h' } }).readInt32BE(1)).toBe(id)
    expect(await away).toMatchObject({ code: 'registry-unavailable' })
  })
  test('ask no registry if another process has them checked', async () => {
    const knownIds = kept()
    const id = idOf(await open(uniquePrefix(), knownIds))
    const whenUp = Promise.resolve()
    const waits = vi.spyOn(whenUp, 'then')
    const { definition } = await early(nobody, knownIds, { isChecked: true, whenUp }).codecs
    expect(definition.encode({ schedule: { at: 1 }, target: { handler: 'h' } }).readInt32BE(1)).toBe(id)
    expect(waits).not.toHaveBeenCalled()
    await early(nobody, knownIds, { whenUp }).codecs
    expect(waits).toHaveBeenCalledOnce()
  })
  test('wait if one of our schemas is unknown', async () => {
    const knownIds = kept()
    await open(uniquePrefix(), knownIds)
    const [first = ''] = Object.keys(knownIds.ids)
    delete knownIds.ids[first]
    expect(await areSchemasKnown(knownIds)).toBe(false)
    await expect(early(nobody, knownIds).codecs).rejects.toMatchObject({ code: 'registry-unavailable' })
  })
  test('read records of an earlier version by the stored schema while the registry is unreachable', async () => {
    const prefix = uniquePrefix()
    const schemas = new Map<number, string>()
    const knownIds: KnownIds & { ids: Record<string, string> } = {
      ...kept(),
      readSchema: async (id) => schemas.get(id),
      writeSchema: async (id, schema) => void schemas.set(id, schema),
    }
    const before = { ...jobDefinitionSchema, fields: jobDefinitionSchema.fields.slice(0, -1) }
    const id = await register(`${prefix}other-value`, before)
    const written = avroType(before).toBuffer(completeDefinition({ schedule: { at: 1 }, target: { handler: 'h' } }))
    const present = await open(prefix, knownIds)
    const bytes = Buffer.concat([Buffer.alloc(5), written])
    bytes.writeInt32BE(id, 1)
    expect((await present.definition.decode(bytes)).target.handler).toBe('h')
    expect([...schemas.keys()]).toEqual([id])
    const { codecs } = early(nobody, knownIds)
    expect((await (await codecs).definition.decode(bytes)).target.handler).toBe('h')
    // A registry that contradicts the known ids is not used.
    schemas.set(id, JSON.stringify({ ...before, fields: [] }))
    const { definition } = await early(nobody, knownIds).codecs
    await expect((async () => definition.decode(bytes))()).rejects.toMatchObject({ code: 'registry-unavailable' })
  })
  test('report that the registry is another one', async () => {
    const knownIds = kept()
    await open(uniquePrefix(), knownIds)
    // An earlier id that this registry has never issued.
    knownIds.ids['2000000000'] = 'ab'
    const { codecs, foreign } = early(registryUrl, knownIds)
    await codecs
    expect(await foreign).toMatchObject({ code: 'foreign-data' })
  })
})
