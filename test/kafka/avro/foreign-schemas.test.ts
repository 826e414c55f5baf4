/** Records with foreign schemas: none blocks a reader, with any schema. */
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { type JobDefinition, jobDefinitionSchema } from '../../../schemas/generated.ts'
import {
  avroType,
  emptyReadsMax,
  fixedReadsMax,
  foreignType,
  schemaCharsMax,
  schemaRecordsMax,
} from '../../../src/log/kafka/avro/avro-type.ts'
import { AvroCodec } from '../../../src/log/kafka/avro/codec.ts'
import { Registry } from '../../../src/log/kafka/avro/registry.ts'
import { seeded } from '../../streams/schedules/differential-sample.ts'

const ours = jobDefinitionSchema as unknown as { name: string; fields: { name: string; type: unknown }[] }
/** Our schema with one more field at its end, which our readers skip. */
const withField = (type: unknown) => ({ ...ours, fields: [...ours.fields, { name: 'foreign', type }] })
const own = new AvroCodec<JobDefinition>(avroType(jobDefinitionSchema), [7], async () => foreignType([]))
const good = own.encode({ schedule: { at: 5 }, target: { handler: 'h' } } as never)
/** A good definition, then these bytes. */
const written = (...more: Buffer[]) => Buffer.concat([Buffer.from([0, 0, 0, 0, 9]), good.subarray(5), ...more])
const long = (value: number): Buffer => avroType('long').toBuffer(value)
const codecFor = (schema: unknown) =>
  new AvroCodec<JobDefinition>(avroType(jobDefinitionSchema), [7], async () => foreignType([JSON.stringify(schema)]))

/** A registry with the schemas of these ids, and a codec that uses it. */
async function codecWith(answers: Record<string, { status?: number; body: unknown }>) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const { status = 200, body } = answers[request.url ?? ''] ?? { status: 404, body: { error_code: 40403 } }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const registry = new Registry({ registryUrl: `http://127.0.0.1:${(server.address() as { port: number }).port}` })
  const codec = new AvroCodec<JobDefinition>(avroType(jobDefinitionSchema), [7], (id) => registry.writerOf(id))
  return { codec, asked }
}

test('an extra field is skipped, whatever it holds', async () => {
  const list = withField({ type: 'array', items: ['null', 'string', { type: 'map', values: 'bytes' }] })
  const bytes = written(long(2), long(0), long(1), long(1), Buffer.from('x'), long(0))
  expect(await codecFor(list).decode(bytes)).toMatchObject({ target: { handler: 'h' } })
})

test.each([
  ['nothing', { type: 'array', items: 'null' }],
  ['records without fields', { type: 'array', items: { type: 'record', name: 'E', fields: [] } }],
  ['lists of nothing', { type: 'array', items: { type: 'array', items: 'null' } }],
])('blocks of %s, which use no bytes, cost no more than their own bytes', async (_, type) => {
  // Each block states a thousand items in two bytes. Decoded, all of them would be five million items.
  const blocks = Array.from({ length: 5_000 }, () => long(1_000))
  await expect(codecFor(withField(type)).decode(written(...blocks, long(0), long(0), long(0)))).rejects.toThrow(
    /a block has \d+ items in \d+ bytes/,
  )
})

test('a block that continues after the last byte ends with it', async () => {
  const many = { type: 'record', name: 'M', fields: Array.from({ length: 1_000 }, (_, at) => ({ name: `f${at}`, type: 'long' })) }
  const codec = codecFor(withField({ type: 'array', items: many }))
  await expect(codec.decode(written(long(50_000), Buffer.alloc(60_000)))).rejects.toThrow('a block ends before its items')
})

/** Nested records with this many fields and levels. */
function nested(fields: number, levels: number, last: unknown = 'null'): unknown {
  let type: unknown = last
  for (let level = 0; level < levels; level++)
    type = {
      ...{ type: 'record', name: `L${level}` },
      fields: Array.from({ length: fields }, (_, at) => ({
        name: `f${at}`,
        type: at === 0 ? type : ((type as { name?: string }).name ?? type),
      })),
    }
  return type
}

test.each([
  ['values without bytes', withField(nested(10, 7)), /^Nothing|at most/],
  ['values behind the end', withField(nested(10, 7, 'long')), /at most/],
  ['itself', withField({ type: 'record', name: 'R', fields: [{ name: 'r', type: 'R' }] }), /holds itself/],
  [
    'records',
    withField(Array.from({ length: schemaRecordsMax + 1 }, (_, at) => ({ type: 'record', name: `R${at}`, fields: [] }))),
    /records/,
  ],
  ['words', { ...ours, doc: 'x'.repeat(schemaCharsMax) }, /characters/],
  ['levels', JSON.parse(`${'{"type":"array","items":'.repeat(8_000)}"null"${'}'.repeat(8_000)}`), /./],
])('a small schema that contains very many %s is refused before it is used', (_, schema, reason) => {
  expect(() => foreignType([JSON.stringify(schema)])).toThrow(reason)
})

test('the limits are the named ones, and all schemas of ours keep them', () => {
  expect(() => foreignType([JSON.stringify(nested(emptyReadsMax, 1))])).not.toThrow()
  expect(() => foreignType([JSON.stringify(nested(emptyReadsMax + 1, 1))])).toThrow(
    `${emptyReadsMax + 1} values that take no byte`,
  )
  expect(() => foreignType([JSON.stringify(nested(fixedReadsMax - 1, 1, 'long'))])).not.toThrow()
  expect(() => foreignType([JSON.stringify(nested(fixedReadsMax, 1, 'long'))])).toThrow(`always has ${fixedReadsMax + 1} values`)
  // The count starts again for each item of a list, and at each level of a recursive type.
  const list = { type: 'record', name: 'Node', fields: [{ name: 'next', type: ['null', 'Node'] }] }
  expect(() => foreignType([JSON.stringify(list)])).not.toThrow()
})

test('a list that is as deep as it is long cannot be decoded', async () => {
  const codec = codecFor(withField({ type: 'record', name: 'Node', fields: [{ name: 'next', type: ['null', 'Node'] }] }))
  await expect(codec.decode(written(long(0)))).resolves.toBeDefined()
  await expect((async () => codec.decode(written(Buffer.alloc(900_000, 2), long(0))))()).rejects.toMatchObject({
    code: 'undecodable',
  })
})

test.each([
  ['of another format', { schemaType: 'PROTOBUF', schema: 'syntax = "proto3"; message A {}' }],
  ['of JSON schema', { schemaType: 'JSON', schema: '{"type":"object"}' }],
  ['that is no schema', { schema: '{"type":"record","name":"1 2","fields":[]}' }],
  ['that is no JSON', { schema: 'record A' }],
  ['that is a bomb', { schema: JSON.stringify(withField(nested(10, 9))) }],
])('with an id %s a record cannot be decoded and does not wait; the registry is asked once', async (_, body) => {
  const { codec, asked } = await codecWith({ '/schemas/ids/9': { body } })
  for (let time = 0; time < 3; time++)
    await expect((async () => codec.decode(written()))()).rejects.toMatchObject({
      code: 'undecodable',
      message: expect.stringContaining('schema with id 9'),
    })
  expect(asked).toEqual(['/schemas/ids/9'])
})

test('a negative id is unknown, and the registry is not asked', async () => {
  const { codec, asked } = await codecWith({})
  await expect(codec.decode(Buffer.from([0, 0xff, 0, 0, 1, 0]))).rejects.toMatchObject({ code: 'undecodable' })
  expect(asked).toEqual([])
})

test('a registry that answers without a schema is retried', async () => {
  const { codec } = await codecWith({ '/schemas/ids/9': { body: {} } })
  await expect(codec.decode(written())).rejects.toMatchObject({ code: 'registry-unavailable' })
})

test('a schema that refers to others is read with them', async () => {
  const extra = { type: 'record', name: 'Extra', namespace: 'duelog', fields: [{ name: 'n', type: 'long' }] }
  const { codec } = await codecWith({
    '/schemas/ids/9': {
      body: { schema: JSON.stringify(withField('Extra')), references: [{ name: 'Extra', subject: 'extra', version: 2 }] },
    },
    '/subjects/extra/versions/2': { body: { schema: JSON.stringify(extra) } },
  })
  expect(await codec.decode(written(long(5)))).toMatchObject({ target: { handler: 'h' } })
})

test('a codec keeps a bounded number of foreign schemas', async () => {
  let asked = 0
  const codec = new AvroCodec<JobDefinition>(avroType(jobDefinitionSchema), [7], async () => {
    asked++
    return foreignType([JSON.stringify(withField('long'))])
  })
  const by = (id: number): Buffer => {
    const bytes = written(long(1))
    bytes.writeInt32BE(id, 1)
    return bytes
  }
  for (let id = 100; id < 350; id++) await codec.decode(by(id))
  expect(asked).toBe(250)
  await codec.decode(by(349))
  expect(asked).toBe(250)
  await codec.decode(by(100))
  expect(asked).toBe(251)
  expect(codec.decode(good)).not.toBeInstanceOf(Promise)
})

test('a header name has no special meaning', async () => {
  const headers = Object.fromEntries([
    ['__proto__', Buffer.from('p')],
    ['constructor', Buffer.from('c')],
  ])
  const read = await own.decode(own.encode({ schedule: { at: 5 }, target: { handler: 'h' }, headers } as never))
  expect(Object.keys(read.headers).sort()).toEqual(['__proto__', 'constructor'])
  expect(Object.getPrototypeOf(read.headers)).toBe(Object.prototype)
})

/** More by hand: DUELOG_HOSTILE_RECORDS=1000000. */
const hostileRecords = Number(process.env.DUELOG_HOSTILE_RECORDS ?? 3_000)

test('any bytes with any schema are decoded or reported as undecodable', { timeout: 3_600_000 }, async () => {
  const dice = seeded(66)
  const anyType = (depth: number, names: string[]): unknown => {
    const deeper = () => anyType(depth - 1, names)
    if (depth === 0 || dice.chance(0.3))
      return dice.pick<unknown>(['null', 'int', 'long', 'string', 'bytes', 'boolean', 'double', ...names.slice(-1)])
    const kind = dice.upTo(4)
    if (kind === 0) return { type: 'array', items: deeper() }
    if (kind === 1) return { type: 'map', values: deeper() }
    if (kind === 2) return ['null', { type: 'array', items: deeper() }]
    const name = `T${names.length}`
    names.push(name)
    return { type: 'record', name, fields: Array.from({ length: dice.upTo(5) }, (_, at) => ({ name: `f${at}`, type: deeper() })) }
  }
  const ended = { read: 0, undecodable: 0 }
  let codec = own
  let values: Buffer[] = []
  for (let made = 0; made < hostileRecords; made++) {
    if (made % 50 === 0) {
      const extra = anyType(4, [])
      codec = codecFor(withField(extra))
      try {
        const type = foreignType([JSON.stringify(extra)])
        values = [1, 2, 3].map(() => type.toBuffer(type.random()))
      } catch {
        values = [Buffer.alloc(3)]
      }
    }
    const value = dice.pick(values)
    let bytes = written(value, Buffer.alloc(dice.chance(0.9) ? 0 : dice.upTo(9)))
    for (let changes = dice.upTo(4); changes > 0; changes--) {
      const at = dice.between(5, bytes.length - 1)
      bytes[dice.chance(0.7) ? Math.max(at, Math.min(good.length, bytes.length - 1)) : at] = dice.pick([
        0,
        1,
        2,
        3,
        0x7f,
        0x80,
        0xff,
        dice.upTo(256),
      ])
    }
    if (dice.chance(0.1)) bytes = bytes.subarray(0, dice.between(5, bytes.length))
    try {
      await codec.decode(bytes)
      ended.read++
    } catch (error) {
      // foreignType refuses this schema, so it has no code here. The registry gives it one.
      if ((error as { code?: string }).code !== undefined) expect(error).toMatchObject({ code: 'undecodable' })
      else expect((error as Error).message).toMatch(/at most|holds itself|^duplicate|union|already|undefined type|invalid/)
      ended.undecodable++
    }
  }
  expect(ended.read).toBeGreaterThan(hostileRecords / 100)
  expect(ended.undecodable).toBeGreaterThan(hostileRecords / 100)
})
