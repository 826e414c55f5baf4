/**
 * Writes the samples of this release: what it stores and sends, as bytes, with the values that are in them. Run it once before a release:
 *
 *   npx node test/compatibility/make-samples.ts
 *
 * It walks the schemas itself and encodes with avsc alone, so that no code of ours makes both the bytes and what is expected of them. A file
 * of a version that was released is never written again.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import avro, { type Schema } from 'avsc'
import pkg from '../../package.json' with { type: 'json' }
import { schemaTexts } from '../../schemas/index.ts'
import { BackupWriter, kinds } from '../../src/tools/backup/backup-file.ts'

interface Node {
  name?: string
  type: AvroType
  fields?: Node[]
  symbols?: string[]
  items?: AvroType
  values?: AvroType
}
type AvroType = string | Node | AvroType[]

const { version } = pkg
let count = 0

/** A value with everything set, in JSON; bytes are texts. Each number is another one. Of a union it takes a branch that is not null, of an enum the last word. */
function sampleOf(type: AvroType, name: string, known: Map<string, Node>): unknown {
  count++
  if (Array.isArray(type)) {
    const branch = type.find((each) => each !== 'null')
    return branch === undefined ? null : sampleOf(branch, name, known)
  }
  if (typeof type !== 'string') {
    if (type.name !== undefined) known.set(type.name, type)
    switch (type.type) {
      case 'record':
        return Object.fromEntries((type.fields ?? []).map((field) => [field.name, sampleOf(field.type, field.name ?? '', known)]))
      case 'enum':
        return type.symbols?.at(-1)
      case 'array':
        return [sampleOf(type.items ?? 'null', name, known)]
      case 'map':
        return { [`key of ${name}`]: sampleOf(type.values ?? 'null', name, known) }
      default:
        return sampleOf(type.type, name, known)
    }
  }
  const named = known.get(type)
  if (named !== undefined) return sampleOf(named, name, known)
  if (type === 'string' || type === 'bytes') return `${name} ${count}`
  if (type === 'boolean') return count % 2 === 0
  if (type === 'double') return count + 0.5
  return count
}

/** What avsc encodes: bytes as buffers, and by the schema. */
function encodable(type: AvroType, value: unknown, known: Map<string, Node>): unknown {
  if (Array.isArray(type)) return value === null ? null : encodable(type.find((each) => each !== 'null') ?? 'null', value, known)
  if (type === 'bytes') return Buffer.from(String(value))
  const node = typeof type === 'string' ? known.get(type) : type
  const eachOf = (of: AvroType | undefined) => (each: unknown) => encodable(of ?? 'null', each, known)
  if (node?.type === 'record') {
    const fields = value as Record<string, unknown>
    return Object.fromEntries(
      (node.fields ?? []).map((field) => [field.name, encodable(field.type, fields[field.name ?? ''], known)]),
    )
  }
  if (node?.type === 'array') return (value as unknown[]).map(eachOf(node.items))
  if (node?.type === 'map') {
    const entries = Object.entries(value as Record<string, unknown>)
    return Object.fromEntries(entries.map(([key, each]) => [key, eachOf(node.values)(each)]))
  }
  return value
}

const records = Object.fromEntries(
  Object.entries(schemaTexts).map(([name, text]) => {
    const known = new Map<string, Node>()
    const schema = JSON.parse(text) as Node
    const value = sampleOf(schema, name, known)
    const bytes = avro.Type.forSchema(schema as Schema).toBuffer(encodable(schema, value, known))
    const schemaText = JSON.stringify(schema, (key, each) => (key === 'doc' ? undefined : each))
    return [name, { schema: schemaText, bytes: bytes.toString('base64'), value }]
  }),
)

const folder = await mkdtemp(join(tmpdir(), 'duelog-samples-'))
const file = join(folder, 'sample.backup')
const place = { topic: 'duelog.jobs', partition: 0, offset: 7 }
const header = {
  ...{ createdAt: 1_800_000_000_000, duelog: version, clusterId: 'cluster', prefix: 'duelog.', partitions: 4, pools: ['mail'] },
  ...{ zoneRules: '2026a', live: true, ends: [place], intake: [{ ...place, topic: 'cron' }], schemas: { state: '"string"' } },
}
const frames = Object.entries(kinds).filter(([kind]) => kind !== 'header' && kind !== 'trailer')
const writer = await BackupWriter.create(file, header)
for (const [kind, number] of frames) await writer.put(number, { id: `job of ${kind}` }, Buffer.from(`body of ${kind}`))
await writer.end({ jobs: 1 })
const backup = {
  bytes: (await readFile(file)).toString('base64'),
  header,
  frames: frames.map(([kind, number]) => ({ kind: number, meta: { id: `job of ${kind}` }, body: `body of ${kind}` })),
}
await rm(folder, { recursive: true })

/** What the members of the groups and the checkpoint of a store are, as text. */
const texts = {
  member:
    '{"instance":"duelog@host:1:mp3vhq1c-abcdef","userData":{"url":"http://host:8080","version":"0.1.0"},"owned":[0,3],"generation":5,"cooperative":true,"leaving":true,"yields":true,"standby":{"wanted":1,"topics":["duelog.jobs"],"following":[2],"copies":[[2,40]],"warmth":{"topic":"duelog.warm","warm":"CQ=="}}}',
  checkpoint:
    '{"version":1,"clusterId":"cluster","prefix":"duelog.","jobsOffset":5,"stateOffset":9,"claimOffset":3,"savedAtMs":1800000000000,"zoneRules":"2026a"}',
}
await writeFile(join(import.meta.dirname, `samples-${version}.json`), `${JSON.stringify({ records, backup, texts }, null, 1)}\n`)
