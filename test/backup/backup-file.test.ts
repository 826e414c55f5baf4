/** A backup that was joined, forged or left by a killed process is refused with its reason, and whatever is refused changes nothing. */
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { BackupWriter, checkedBackup, kinds } from '../../src/tools/backup/backup-file.ts'

const folder = await mkdtemp(join(tmpdir(), 'duelog-backup-file-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const header = {
  ...{ createdAt: 1, duelog: '1.0.0', clusterId: 'c', prefix: 'p.', partitions: 3, pools: ['default'] },
  ...{ zoneRules: '', live: false, ends: [], intake: [], schemas: {} },
}

let files = 0
const fileOf = async (...bytes: Buffer[]): Promise<string> => {
  const path = join(folder, `${files++}.backup`)
  await writeFile(path, Buffer.concat(bytes))
  return path
}

async function soundFile(): Promise<Buffer> {
  const path = join(folder, `${files++}.backup`)
  const writer = await BackupWriter.create(path, header)
  await writer.put(kinds.job, { id: 'a' })
  await writer.end({ jobs: 1 })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  return readFile(path)
}

type Part = [kind: number, meta: unknown]

/** A file with a right checksum, whatever is in it. It follows the description of the layout, not the code of the writer. */
function forged(parts: Part[], counts: unknown = { jobs: 1 }, version = 1): Buffer {
  const frame = ([kind, meta]: Part): Buffer => {
    const text = Buffer.from(JSON.stringify(meta))
    const head = Buffer.alloc(9)
    head.writeUInt8(kind)
    head.writeUInt32BE(text.length, 1)
    return Buffer.concat([head, text])
  }
  const frames = parts.map(frame)
  const sha256 = createHash('sha256').update(Buffer.concat(frames)).digest('hex')
  const plain = Buffer.concat([...frames, frame([15, { frames: frames.length, sha256, counts }])])
  const [compressed, length] = [zstdCompressSync(plain), Buffer.alloc(8)]
  length.writeUInt32BE(compressed.length, 4)
  return Buffer.concat([Buffer.from('DUELOGBK'), Buffer.of(0, version), compressed, length, Buffer.from('KBGOLEUD')])
}

const refused = async (bytes: Buffer, reason: string | RegExp): Promise<void> => {
  await expect(checkedBackup(await fileOf(bytes)), String(reason)).rejects.toMatchObject({
    code: 'bad-usage',
    message: expect.stringMatching(reason),
  })
}

it('two files in one are no backup, although the first of them is whole', async () => {
  const sound = await soundFile()
  expect((await checkedBackup(await fileOf(sound))).counts).toEqual({ jobs: 1 })
  await refused(Buffer.concat([sound, sound]), 'something follows its end')
  await refused(Buffer.concat([sound, Buffer.from('KBGOLEUD')]), 'something follows its end')
})

it('what nobody but a forger writes is refused before a restore begins', async () => {
  const job: Part = [2, { id: 'a' }]
  expect((await checkedBackup(await fileOf(forged([[1, header], job])))).header).toEqual(header)
  const cases: [Buffer, RegExp][] = [
    [Buffer.alloc(0), /no backup/],
    [forged([[1, header], job], { jobs: 1 }, 2), /layout 2/],
    [forged([job, [1, header]]), /begin with a header/],
    [
      forged([
        [1, header],
        [1, header],
      ]),
      /two headers/,
    ],
    [
      forged([
        [1, header],
        [14, {}],
      ]),
      /unknown kind 14/,
    ],
    [
      forged([
        [1, header],
        [4, {}],
      ]),
      /no job before it/,
    ],
    [forged([[1, header], job, [11, { key: 'p' }], [4, {}]]), /no job before it/],
    [
      forged([
        [1, header],
        [2, null],
      ]),
      /no object/,
    ],
    [
      forged([
        [1, header],
        [2, { id: '' }],
      ]),
      /id of a job/,
    ],
    [
      forged([
        [1, header],
        [2, { id: 7 }],
      ]),
      /id of a job/,
    ],
    [
      forged([
        [1, header],
        [10, { id: 'x'.repeat(5_000) }],
      ]),
      /id of a job/,
    ],
    [forged([[1, { ...header, partitions: 1e9 }]]), /partitions/],
    [forged([[1, { ...header, partitions: 0 }]]), /partitions/],
    [forged([[1, { ...header, pools: ['../x'] }]]), /pools/],
    [forged([[1, { ...header, createdAt: 1e300 }]]), /createdAt/],
    [forged([[1, { ...header, schemas: { a: 1 } }]]), /schemas/],
    [forged([[1, { ...header, ends: [{ topic: 't', partition: -1, offset: 0 }] }]]), /ends/],
    [forged([[1, { ...header, intake: [{ topic: 't', partition: 0 }] }]]), /intake/],
    [forged([[1, header], job], { jobs: -1 }), /numbers/],
    [forged([[1, header], job], null), /numbers/],
  ]
  for (const [bytes, reason] of cases) await refused(bytes, reason)
})

it('what a killed backup has left is named, and is not overwritten', async () => {
  const path = join(folder, 'killed.backup')
  await writeFile(`${path}.part`, 'half')
  await expect(BackupWriter.create(path, header)).rejects.toThrow(/killed\.backup\.part exists: .* remove it/)
  expect(await readFile(`${path}.part`, 'utf8')).toBe('half')
  await writeFile(`${path}.whole`, 'whole')
  await expect(BackupWriter.create(`${path}.whole`, header)).rejects.toThrow('whole exists; name another')
})
