/**
 * Reader of job definitions from files of UTF-8. NDJSON is read line by line, so files may have any length. YAML and JSON documents are
 * read as a whole. Numbers keep their digits. The server validates the definitions.
 */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { isObject } from '../../../../streams/definitions/index.ts'
import { type JsonRead, JsonText, oneLineJson, readJson, writeJson } from '../../../../streams/text/index.ts'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import { decodeUtf8, lineGroups, utf8Problem } from '../../../ground/network/index.ts'
import { yamlItems } from './yaml-items.ts'

/** A definition as one line of JSON, and its position. */
export interface JobText {
  /** The file name that the user gave; `-` for standard input. */
  file: string
  /** From 1. */
  line: number
  json: string
  /** Undefined if it has none, which the server refuses. */
  id: string | undefined
  /** Bytes of the files up to the end of this definition. */
  readBytes: number
}

export type Format = 'ndjson' | 'yaml'
/** A file named .json is parsed as JSON first, because the YAML parser, which accepts nearly all JSON, is slower. */
type FileFormat = Format | 'json'
/** Standard input has no name that shows its format: its first line does. */
type GivenFormat = FileFormat | 'by-content'

export interface JobSource {
  /** Each iteration reads the files again. */
  jobs: AsyncIterable<JobText>
  /** Total bytes; undefined when standard input or a pipe is one of the files, which can be read only once. */
  bytes: number | undefined
}

/** Maximum size of a file that is read as a whole. A million jobs belong in NDJSON. */
export const documentBytesMax = 16 * 1024 * 1024
/** Maximum size of one job, also of one whose YAML aliases were replaced by what they stand for. It is that of a request. */
const jobBytesMax = 1024 * 1024
/** Ids in which one that is there twice is found. They are kept in memory. */
const idsKeptMax = 2_000_000

const byExtension: Record<string, FileFormat> = {
  ...{ '.yaml': 'yaml', '.yml': 'yaml', '.json': 'json' },
  ...{ '.ndjson': 'ndjson', '.jsonl': 'ndjson' },
}

/**
 * Rejects with `bad-usage` for an unreadable file or an unknown format. Iterating the jobs rejects when a file does not have its format, is
 * not UTF-8, or when an id is there twice. Files that can be read twice are read to their end first, so that nothing was sent then.
 */
export async function openJobs(files: readonly string[], format: Format | undefined, stdin: Readable): Promise<JobSource> {
  const formats = files.map((file) => format ?? formatOf(file))
  let bytes: number | undefined = 0
  for (const file of files) {
    if (file === '-') bytes = undefined
    else {
      const size = await sizeOf(file)
      bytes = bytes === undefined || size === undefined ? undefined : bytes + size
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
  const jobs = { [Symbol.asyncIterator]: () => withoutTwins(readAll()) }
  if (bytes !== undefined) for await (const _ of jobs);
  return { jobs, bytes }
}

/** Two definitions with one id: the later one would replace the earlier one, whatever their author meant. */
async function* withoutTwins(jobs: AsyncIterable<JobText>): AsyncGenerator<JobText> {
  const files: string[] = []
  const places = new Map<string, [file: number, line: number]>()
  for await (const job of jobs) {
    const { file, line, id } = job
    if (file !== files.at(-1)) files.push(file)
    const [at, earlier] = (id === undefined ? undefined : places.get(id)) ?? []
    if (at !== undefined)
      throw new DuelogError(
        'bad-usage',
        `${file}:${line} has the id ${JSON.stringify(id)} of ${files[at]}:${earlier}. Delete one of them.`,
      )
    if (id !== undefined && places.size < idsKeptMax) places.set(id, [files.length - 1, line])
    yield job
  }
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
    line = /^\ufeff?\s*(\S[^\n]*)\n/.exec(
      Buffer.concat(begin)
        .toString('latin1')
        .replace(/^\xef\xbb\xbf/, ''),
    )?.[1]
  }
  const head = Buffer.concat(begin)
  const rest = async function* (): AsyncGenerator<Buffer | string> {
    if (head.length > 0) yield head
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) yield next.value
  }
  return {
    stream: Readable.from(rest()),
    format: formatIn((line ?? head.toString('latin1').replace(/^\xef\xbb\xbf/, '')).trim()),
  }
}

/** A job on one line begins with `{` and more; a document in JSON begins with a bracket or a lone brace; anything else is YAML. */
function formatIn(line: string): FileFormat {
  if (line === '' || (line.startsWith('{') && line !== '{')) return 'ndjson'
  return line === '{' || line.startsWith('[') ? 'json' : 'yaml'
}

/** Undefined for a pipe, which can be read only once. */
async function sizeOf(file: string): Promise<number | undefined> {
  try {
    const found = await stat(file)
    if (found.isDirectory()) throw new DuelogError('bad-usage', `${file} is a directory; give the names of the files in it.`)
    return found.isFile() ? found.size : undefined
  } catch (error) {
    if (error instanceof DuelogError) throw error
    throw new DuelogError('bad-usage', `${file} cannot be read: ${messageOf(error)}.`, { cause: error })
  }
}

/** Lines end with a line feed alone: U+2028 and U+2029, at which readline splits too, may be in a text of JSON. */
async function* lineJobs(file: string, input: Readable, before: number): AsyncGenerator<JobText> {
  let readBytes = before
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const piece of input as AsyncIterable<Buffer | string>) {
      readBytes += Buffer.byteLength(piece)
      yield Buffer.from(piece)
    }
  }
  for await (const group of lineGroups(counted(), jobBytesMax)) {
    for (const { line, bytes } of group) {
      if (bytes === 'too-long')
        throw new DuelogError('bad-usage', `${file}:${line} has more than ${jobBytesMax} bytes, the most for one job.`)
      const text = decodeUtf8(bytes)
      if (text === undefined) throw notUtf8(file, bytes, line)
      const json = line === 1 ? withoutMark(text) : text
      if (json.trim() !== '') yield { file, line, json, id: idIn(json), readBytes }
    }
  }
}

/** A line that is not JSON is refused by the server, as one without an id. */
function idIn(json: string): string | undefined {
  try {
    return idOf(JSON.parse(json))
  } catch {
    return undefined
  }
}

const idOf = (job: unknown): string | undefined => (isObject(job) && typeof job.id === 'string' ? job.id : undefined)

const withoutMark = (text: string): string => text.replace(/^\ufeff/, '')

function notUtf8(file: string, bytes: Buffer, firstLine = 1): DuelogError {
  const { line, what } = utf8Problem(bytes)
  return new DuelogError('bad-usage', `${file}:${firstLine + line - 1} ${what}`)
}

/** One job or a list of jobs. A file that is not valid JSON is tried as YAML, which allows for example a trailing comma. */
async function* jsonJobs(file: string, input: Readable, before: number): AsyncGenerator<JobText> {
  const { text, bytes } = await wholeOf(file, input)
  let read: JsonRead
  try {
    read = readJson(text)
  } catch {
    return yield* yamlJobs(file, text, before)
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
    yield { file, line, json: lineOf(job), id: idOf(job), readBytes: before + Math.ceil((bytes * (index + 1)) / jobs.length) }
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
  yield* yamlJobs(file, (await wholeOf(file, input)).text, before)
}

async function* yamlJobs(file: string, text: string, before: number): AsyncGenerator<JobText> {
  const wrong = (line: number, what: string): DuelogError =>
    new DuelogError('bad-usage', `${file}:${line} cannot be used: ${what}`)
  for await (const { line, end, value } of yamlItems(text, jobBytesMax, wrong))
    yield { file, line, json: writeJson(value), id: idOf(value), readBytes: before + end }
}

/** The text of a document, without a byte order mark, and its bytes. */
async function wholeOf(file: string, input: Readable): Promise<{ text: string; bytes: number }> {
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
  const bytes = await buffer(limited())
  const text = decodeUtf8(bytes)
  if (text === undefined) throw notUtf8(file, bytes)
  return { text: withoutMark(text), bytes: bytes.length }
}
