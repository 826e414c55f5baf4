/** Secrets in files: `DUELOG_API_TOKENS_FILE` names a file that holds the value of `DUELOG_API_TOKENS`. */
import { closeSync, openSync, readSync } from 'node:fs'
import { messageOf } from '../errors/index.ts'
import { named } from './messages.ts'
import { settings } from './settings.ts'

/** Far larger than any secret. The limit also ends the read of a path that is a device. */
const secretBytesMax = 65_536
/** Far larger than the list of all public certificate authorities. */
const pemBytesMax = 4 * 1024 * 1024

/** The given settings, with the contents of the files in place of their names. `problems` never contain the contents of a file. */
export function withSecretsOfFiles(given: Readonly<Record<string, string>>): {
  values: Record<string, string>
  problems: string[]
} {
  const values = { ...given }
  const problems: string[] = []
  for (const { name, fileOf } of settings) {
    const file = given[name]
    if (fileOf === undefined || file === undefined) continue
    delete values[name]
    if (given[fileOf] !== undefined) {
      problems.push(`${name} and ${fileOf} are both set; leave one of them out.`)
      continue
    }
    try {
      const value = secretOfFile(file)
      if (value.trim() === '') problems.push(`${named(name)} is "${file}", which is empty.`)
      else values[fileOf] = value
    } catch (error) {
      problems.push(`${named(name)} is "${file}", which cannot be read (${messageOf(error)}).`)
    }
  }
  return { values, problems }
}

/** The content of a file of a secret, without the line ends at the end, which editors add. Spaces are part of a secret. */
export const secretOfFile = (file: string): string => textOf(file, secretBytesMax).replace(/[\r\n]+$/, '')

/** The content of a file with certificates or a key. Throws if it cannot be read or is far too large. */
export const pemOfFile = (file: string): string => textOf(file, pemBytesMax)

function textOf(file: string, bytesMax: number): string {
  const opened = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(bytesMax + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(opened, bytes, length, bytes.length - length, null)
    if (length > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`)
    return bytes.toString('utf8', 0, length)
  } finally {
    closeSync(opened)
  }
}
