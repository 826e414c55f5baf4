/** Secrets in files: `DUELOG_API_TOKENS_FILE` names a file that holds the value of `DUELOG_API_TOKENS`. */
import { messageOf } from '../errors/index.ts'
import { secretOfFile } from '../process/index.ts'
import { named } from './messages.ts'
import { settingByName, settings } from './settings.ts'

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
      const isReadAgain = settingByName.get(fileOf)?.reread === true
      const value = secretOfFile(file, { isReadAgain })
      if (value.trim() === '') problems.push(`${named(name)} is "${file}", which is empty.`)
      else values[fileOf] = value
    } catch (error) {
      problems.push(`${named(name)} is "${file}", which cannot be read (${messageOf(error)}).`)
    }
  }
  return { values, problems }
}
