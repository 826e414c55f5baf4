/**
 * What a released version has stored or sent is read by today's code: records, entries of the changelog, a backup, data of group members and
 * the checkpoint of a store. Bytes and values are files that no later version writes again (make-samples.ts). Fields that came later are not
 * compared.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { schemaTexts } from '../../schemas/index.ts'
import { avroType, typeOfText } from '../../src/log/kafka/avro/avro-type.ts'
import { AvroCodec } from '../../src/log/kafka/avro/codec.ts'
import { readUserData } from '../../src/log/kafka/group/member-user-data.ts'
import { checkpointKey, readCheckpoint } from '../../src/scheduler/state/checkpoint.ts'
import { checkedBackup, framesOf, kinds } from '../../src/tools/backup/backup-file.ts'
import type { BackupHeader } from '../../src/tools/backup/backup-header.ts'
import { memoryStore } from '../tools/memory-store.ts'

interface Samples {
  records: Record<string, { schema: string; bytes: string; value: object }>
  backup: { bytes: string; header: BackupHeader; frames: { kind: number; meta: object; body: string }[] }
  texts: { member: string; checkpoint: string }
}

const files = (await readdir(import.meta.dirname)).filter((name) => /^samples-[\d.]+\.json$/.test(name))
const folder = await mkdtemp(join(tmpdir(), 'duelog-samples-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

/** As the samples have it: bytes are texts. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_name, each) => (each?.type === 'Buffer' ? Buffer.from(each.data).toString() : each)))

const [ownId, writersId] = [1, 2]

it('there is a sample of 0.1.0, with a record of each schema', async () => {
  expect(files).toContain('samples-0.1.0.json')
  const { records } = JSON.parse(await readFile(join(import.meta.dirname, 'samples-0.1.0.json'), 'utf8')) as Samples
  expect(Object.keys(records).sort()).toEqual(Object.keys(schemaTexts).sort())
})

describe.each(files)('%s', async (name) => {
  const { records, backup, texts } = JSON.parse(await readFile(join(import.meta.dirname, name), 'utf8')) as Samples

  it.each(Object.entries(records))('a record of %s', async (schema, { schema: text, bytes, value }) => {
    const ours = avroType(JSON.parse(schemaTexts[schema as keyof typeof schemaTexts]))
    const codec = new AvroCodec(ours, [ownId], async () => typeOfText(writersId, text))
    const framed = Buffer.concat([Buffer.from([0, 0, 0, 0, writersId]), Buffer.from(bytes, 'base64')])
    expect(plain(await codec.decode(framed))).toMatchObject(value)
  })

  it('a backup', async () => {
    const path = join(folder, `${name}.backup`)
    await writeFile(path, Buffer.from(backup.bytes, 'base64'))
    expect(await checkedBackup(path)).toEqual({ header: backup.header, counts: { jobs: 1 } })
    const frames: object[] = []
    for await (const { kind, meta, body } of framesOf(path))
      if (kind !== kinds.header && kind !== kinds.trailer) frames.push({ kind, meta, body: body.toString() })
    expect(frames).toEqual(backup.frames)
  })

  it('what a member of a group says of itself', () => {
    expect(readUserData('member', Buffer.from(texts.member))).toEqual({
      instance: 'duelog@host:1:mp3vhq1c-abcdef',
      userData: { url: 'http://host:8080', version: '0.1.0' },
      ...{ owned: [0, 3], generation: 5, cooperative: true, leaving: true, yields: true },
      standby: {
        ...{ wanted: 1, topics: ['duelog.jobs'], following: [2], copies: [[2, 40]] },
        warmth: { topic: 'duelog.warm', warm: 'CQ==' },
      },
    })
  })

  it('the checkpoint of a store', async () => {
    const store = memoryStore()
    await store.apply([{ key: checkpointKey, value: Buffer.from(texts.checkpoint) }])
    expect(checkpointKey.toString('hex')).toBe('4d6c6f63616c')
    expect(await readCheckpoint(store)).toMatchObject({
      ...{ clusterId: 'cluster', prefix: 'duelog.', jobsOffset: 5, stateOffset: 9, claimOffset: 3 },
      ...{ savedAtMs: 1_800_000_000_000, zoneRules: '2026a' },
    })
  })
})
