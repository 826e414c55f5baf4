/** docker/compose.yaml as the engine would read it: anchors merged, variables put in. */
import { parse } from 'yaml'
import { readHouseFile } from '../house/tree.ts'

export interface Service {
  image: string
  environment?: Record<string, string>
  depends_on?: Record<string, { condition: string }>
  volumes?: string[]
  ports?: string[]
  stop_grace_period?: string
  command?: string[]
}
export interface ComposeFile {
  name: string
  services: Record<string, Service>
  volumes: Record<string, unknown>
}

/** Throws where a variable is needed and not given, as the engine does. */
export function composeFile(variables: Record<string, string>): ComposeFile {
  const text = readHouseFile('docker/compose.yaml').text.replace(
    /\$\{([A-Z_]+)(?::-([^}]*)|:\?([^}]*))?\}/g,
    (_, name: string, other: string | undefined, complaint: string | undefined) => {
      const value = variables[name] ?? other
      if (value === undefined) throw new Error(`${name} is missing: ${complaint}`)
      return value
    },
  )
  return parse(text, { merge: true }) as ComposeFile
}
