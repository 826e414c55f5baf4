/** The compose files of docker/ as the engine would read them: anchors merged, variables put in. */
import { parse } from 'yaml'
import { readHouseFile } from '../house/tree.ts'

export interface Service {
  image: string
  environment?: Record<string, string>
  depends_on?: string[] | Record<string, { condition: string }>
  volumes?: string[]
  tmpfs?: string[]
  ports?: string[]
  stop_grace_period?: string
  command?: string[]
  secrets?: string[]
  deploy?: { replicas: number }
  healthcheck?: { test: string[] }
  mem_limit?: string
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
}
export interface ComposeFile {
  name: string
  services: Record<string, Service>
  volumes: Record<string, unknown>
  secrets: Record<string, { file: string }>
}

/** Throws where a variable is needed and not given, as the engine does. */
export function composeFile(path: string, variables: Record<string, string> = {}): ComposeFile {
  const text = readHouseFile(path).text.replace(
    /(?<!\$)\$\{([A-Z_]+)(?::-([^}]*)|:\?([^}]*))?\}/g,
    (_, name: string, other: string | undefined, complaint: string | undefined) => {
      const value = variables[name] ?? other
      if (value === undefined) throw new Error(`${name} is missing: ${complaint}`)
      return value
    },
  )
  return parse(text, { merge: true }) as ComposeFile
}

/** The environment of a service, with the folder in which a container finds its secrets replaced by one of this machine. */
export function environmentIn(secretsFolder: string, { environment = {} }: Service): Record<string, string> {
  const moved = Object.entries(environment).map(([name, value]) => [name, value.replace(/^\/run\/secrets(?=\/)/, secretsFolder)])
  return Object.fromEntries(moved)
}
