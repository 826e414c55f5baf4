/**
 * Reader of job definitions from files. NDJSON is read line by line, so files may have any length. YAML and JSON documents are read as a
 * whole. Numbers keep their digits. The server validates the definitions.
 */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { isObject } from '../../../streams/definitions/index.ts'
import { type JsonRead, JsonText, oneLineJson, readJson, writeJson } from '../../../streams/text/index.ts'
import { DuelogError, messageOf } from '../../errors/index.ts'

/** A definition as one line of JSON, and its position. */
export interface JobText {
  /** The file name that the user gave; `-` for standard input. */
  file: string
  /** From 1. */
  line: number
  json: string
  /** Bytes of the files up to the end of this definition. */
  readBytes: number
}

export type Format = 'ndjson' | 'yaml'
/** A file named .json is parsed as JSON first, because the YAML parser, which accepts nearly all JSON, is slower. */
type FileFormat = Format | 'json'
/** Standard input has no name that shows its format: its first line does. */
type GivenFormat = FileFormat | 'by-content'

export interface JobSource {
  jobs: AsyncIterable<JobText>
  /** Total bytes; undefined when standard input is one of the files. */
  bytes: number | undefined
}

/** Maximum size of a file that is read as a whole. A million jobs belong in NDJSON. */
export const documentBytesMax = 16 * 1024 * 1024

const byExtension: Record<string, FileFormat> = {
  ...{ '.yaml': 'yaml', '.yml': 'yaml', '.json': 'json' },
  ...{ '.ndjson': 'ndjson', '.jsonl': 'ndjson' },
}

/** Rejects with `bad-usage` for an unreadable file or an unknown format. Iterating the jobs rejects when a file does not have its format. */
export async function openJobs(files: readonly string[], format: Format | undefined, stdin: Readable): Promise<JobSource> {
  const formats = files.map((file) => format ?? formatOf(file))
  let bytes: number | undefined = 0
  for (const file of files) {
    if (file === '-') bytes = undefined
    else {
      const size = await sizeOf(file)
      if (bytes !== undefined) bytes += size
    }
  }
  const readAll = async function* (): AsyncGenerator<JobText> {
    let before = 0
    for (const [at, file] of files.entries()) {
      const found = await contentOf(file === '-' ? stdin : createReadStream(file), formats[at] ?? 'ndjson')
      let last = before
      const read = found.format === 'ndjson' ? lineJobs : found.format === 'yaml' ? documentJobs : jsonJobs
      for await (const job of read(file, found.stream, before)) {
        last = job.readBytes
        yield job
      }
      before = last
    }
  }
  return { jobs: readAll(), bytes }
}

function formatOf(file: string): GivenFormat {
  if (file === '-') return 'by-content'
  const found = byExtension[extname(file).toLowerCase()]
  if (found !== undefined) return found
  const names = Object.keys(byExtension).join(', ')
  throw new DuelogError('bad-usage', `The name of ${file} does not show its format (${names}). Set it with --format.`)
}

/** Most bytes of blank lines before the first line that shows a format, and of that line. */
const sniffedBytesMax = 1_048_576

/** The stream with its format. A stream of unknown format is read up to the end of its first line that is not blank. */
async function contentOf(stream: Readable, format: GivenFormat): Promise<{ stream: Readable; format: FileFormat }> {
  if (format !== 'by-content') return { stream, format }
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer | string>
  const begin: Buffer[] = []
  let bytes = 0
  let line: string | undefined
  while (line === undefined && bytes < sniffedBytesMax) {
    const { value, done } = await pieces.next()
    if (done) break
    begin.push(Buffer.from(value))
    bytes += Buffer.byteLength(value)
    // A pipe may give single bytes.
    if (!value.includes('\n')) continue
    line = /^\ufeff?\s*(\S[^\n]*)\n/.exec(Buffer.concat(begin).toString('utf8'))?.[1]
  }
  const head = Buffer.concat(begin)
  const rest = async function* (): AsyncGenerator<Buffer | string> {
    if (head.length > 0) yield head
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value
  }
  return { stream: Readable.from(rest()), format: formatIn((line ?? head.toString('utf8')).replace(/^\ufeff/, '').trim()) }
}

/** A job on one line begins with `{` and more; a document in JSON begins with a bracket or a lone brace; anything else is YAML. */
function formatIn(line: string): FileFormat {
  if (line === '' || (line.startsWith('{') && line !== '{')) return 'ndjson'
  return line === '{' || line.startsWith('[') ? 'json' : 'yaml'
}

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file)
    if (found.isDirectory()) throw new DuelogError('bad-usage', `${file} is a directory; give the names of the files in it.`)
    return found.size
  } catch (error) {
    if (error instanceof DuelogError) throw error
    throw new DuelogError('bad-usage', `${file} cannot be read: ${messageOf(error)}.`, { cause: error })
  }
}

async function* lineJobs(file: string, input: Readable, before: number): AsyncGenerator<JobText> {
  let line = 0
  let readBytes = before
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line++
    readBytes += Buffer.byteLength(text) + 1
    if (text.trim() !== '') yield { file, line, json: text, readBytes }
  }
}

/** One job or a list of jobs. A file that is not valid JSON is tried as YAML, which allows for example a trailing comma. */
async function* jsonJobs(file: string, input: Readable, before: number): AsyncGenerator<JobText> {
  const bytes = await wholeOf(file, input)
  const text = bytes.toString('utf8').replace(/^\ufeff/, '')
  let read: JsonRead
  try {
    read = readJson(text)
  } catch {
    return yield* yamlJobs(file, bytes, before)
  }
  const [problem] = read.problems
  if (problem !== undefined) throw new DuelogError('bad-usage', `${file} is refused: ${problem.message}`)
  const jobs: unknown[] = Array.isArray(read.value) ? read.value : [read.value]
  if (!jobs.every(isObject))
    throw new DuelogError('bad-usage', `${file} cannot be used: a document must be a job or a list of jobs.`)
  let line = 1
  let from = 0
  for (const [index, job] of jobs.entries()) {
    const at = read.items[index] ?? text.search(/\S/)
    for (let end = text.indexOf('\n', from); end >= 0 && end < at; end = text.indexOf('\n', from)) {
      line++
      from = end + 1
    }
    yield { file, line, json: lineOf(job), readBytes: before + Math.ceil((bytes.length * (index + 1)) / jobs.length) }
  }
}

/** A payload over several lines is put on one line. Otherwise its text is unchanged. */
function lineOf(job: Record<string, unknown>): string {
  const { payload } = job
  if (!(payload instanceof JsonText)) return writeJson(job)
  const text = oneLineJson(payload.text)
  return writeJson({ ...job, payload: new JsonText(text) })
}

async function* documentJobs(file: string, input: Readable, before: number): AsyncGenerator<JobText> {
  yield* yamlJobs(file, await wholeOf(file, input), before)
}

async function* yamlJobs(file: string, bytes: Buffer, before: number): AsyncGenerator<JobText> {
  // Loaded on demand, because loading takes a while.
  const { isMap, isSeq, LineCounter, parseAllDocuments, visit } = await import('yaml')
  const lineCounter = new LineCounter()
  const documents = parseAllDocuments(bytes.toString('utf8'), { lineCounter, prettyErrors: false, intAsBigInt: true })
  const wrong = (at: number, what: string): DuelogError =>
    new DuelogError('bad-usage', `${file}:${lineCounter.linePos(at).line} cannot be used: ${what}`)
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors
    if (error !== undefined) throw wrong(error.pos[0], `${error.message.replace(/\.?$/, '.')}`)
    visit(document, {
      Scalar(key, scalar) {
        if (key === 'key' || (typeof scalar.value !== 'number' && typeof scalar.value !== 'bigint')) return
        const digits = jsonNumber(scalar.value, scalar.source ?? '')
        if (digits === undefined) throw wrong(scalar.range?.[0] ?? 0, `${scalar.source} is a number that JSON cannot represent.`)
        scalar.value = new YamlNumber(digits)
      },
    })
    const { contents } = document
    // The document has only comments.
    if (contents === null || document.toJS() === null) continue
    if (!isMap(contents) && !isSeq(contents)) throw wrong(contents.range?.[0] ?? 0, 'a document must be a job or a list of jobs.')
    for (const item of isSeq(contents) ? contents.items : [contents]) {
      const at = (item as { range?: [number, number, number] }).range ?? [0, 0, 0]
      if (!isMap(item)) throw wrong(at[0], 'each item of a list must be a job: a mapping with id, schedule and target.')
      const json = writeJson(item.toJS(document, { reviver: exactNumber }))
      yield { file, line: lineCounter.linePos(at[0]).line, json, readBytes: before + Math.min(at[2], bytes.length) }
    }
  }
}

/** A number of a YAML document in JSON syntax, with all its digits. */
class YamlNumber {
  readonly digits: string
  constructor(digits: string) {
    this.digits = digits
  }
}

const exactNumber = (_key: unknown, value: unknown): unknown => (value instanceof YamlNumber ? new JsonText(value.digits) : value)

/** Undefined for infinity and NaN. Unlike JSON, YAML allows +1.5, .5, 1. and numbers in other bases. */
function jsonNumber(value: number | bigint, source: string): string | undefined {
  if (typeof value === 'bigint') return String(value)
  if (/inf|nan/i.test(source)) return undefined
  const digits = source
    .replace(/^\+/, '')
    .replace(/^(-?)0+(\d)/, '$1$2')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=[eE]|$)/, '')
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(digits) ? digits : String(value)
}

async function wholeOf(file: string, input: Readable): Promise<Buffer> {
  const limited = async function* (): AsyncGenerator<Buffer> {
    let read = 0
    for await (const piece of input as AsyncIterable<Buffer>) {
      read += piece.length
      if (read > documentBytesMax) {
        throw new DuelogError(
          'bad-usage',
          `${file} has more than ${documentBytesMax} bytes. Use an NDJSON file, with one job per line.`,
        )
      }
      yield piece
    }
  }
  return buffer(limited())
}
