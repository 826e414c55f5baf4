/** Secrets in files: `DUELOG_API_TOKENS_FILE` names a file that holds the value of `DUELOG_API_TOKENS`. */
import { closeSync, openSync, readSync } from 'node:fs'
import { messageOf } from '../errors/index.ts'
import { named } from './messages.ts'
import { settings } from './settings.ts'

/** Far larger than any secret. The limit also ends the read of a path that is a device. */
const fileBytesMax = 65_536

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
      const value = textOf(file)
      if (value === '') problems.push(`${named(name)} is "${file}", which is empty.`)
      else values[fileOf] = value
    } catch (error) {
      problems.push(`${named(name)} is "${file}", which cannot be read (${messageOf(error)}).`)
    }
  }
  return { values, problems }
}

/** Trimmed, because editors end a file with a newline. */
function textOf(file: string): string {
  const opened = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(fileBytesMax + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(opened, bytes, length, bytes.length - length, null)
    if (length > fileBytesMax) throw new Error(`it has more than ${fileBytesMax} bytes`)
    return bytes.toString('utf8', 0, length).trim()
  } finally {
    closeSync(opened)
  }
}
