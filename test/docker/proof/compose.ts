/** docker/compose.yaml brought up by Docker Compose 2 over the socket of Podman, and what is asked of its containers. */
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Podman, run } from './podman.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const healthEveryMs = 3_000

export interface Container {
  id: string
  name: string
  service: string
  state: string
  health: string
}

interface Inspected {
  Id: string
  Name: string
  Config: { Labels: Record<string, string> | null; Healthcheck?: unknown; User: string }
  State: { Status: string; Health?: { Status: string }; ExitCode: number; FinishedAt: string }
}

export interface ComposeOptions {
  podman: Podman
  project: string
  /** Compose files, the first one first. */
  files: readonly string[]
  env: Record<string, string>
}

/** The words that start Docker Compose 2: the plugin, or the program of its own. Undefined if there is none. */
export async function composeProgram(): Promise<string[] | undefined> {
  for (const words of [['docker', 'compose'], ['docker-compose']]) {
    const [program = '', ...args] = words
    const { code, output } = await run(program, [...args, 'version', '--short']).catch(() => ({ code: 1, output: '' }))
    // One that was built from its source says "dev".
    if (code === 0 && /^(v?[2-9]\.|dev)/m.test(output)) return words
  }
  return undefined
}

export class Compose {
  readonly #options: ComposeOptions
  readonly #program: readonly string[]
  readonly #healthEnd = new AbortController()
  #health: Promise<void> = Promise.resolve()

  constructor(program: readonly string[], options: ComposeOptions) {
    this.#program = program
    this.#options = options
  }

  /** Throws with the end of its output when it fails. */
  async do(...args: string[]): Promise<string> {
    const { podman, project, files, env } = this.#options
    const [program = '', ...words] = this.#program
    const all = [...words, '--project-name', project, ...files.flatMap((file) => ['--file', file]), ...args]
    const { code, output } = await run(program, all, { env: { ...podman.env, ...env }, cwd: root, timeoutMs: 900_000 })
    if (code !== 0) throw new Error(`${program} ${all.join(' ')} ended with ${code}: ${output.slice(-3_000)}`)
    return output
  }

  /** All containers of the project, also ended ones. */
  async containers(): Promise<Container[]> {
    return (await this.#inspected()).map(({ Id, Name, Config, State }) => ({
      id: Id,
      name: Name.replace(/^\//, ''),
      service: Config.Labels?.['com.docker.compose.service'] ?? '',
      state: State.Status,
      health: State.Health?.Status ?? '',
    }))
  }

  async of(service: string): Promise<Container[]> {
    return (await this.containers()).filter((each) => each.service === service)
  }

  /** Podman has systemd run health checks. Where there is no systemd, this does, until `close`. */
  watchHealth(): void {
    const { signal } = this.#healthEnd
    const { podman } = this.#options
    const watch = async (): Promise<void> => {
      while (!signal.aborted) {
        const checked = await this.containers().catch(() => [])
        for (const { id, state } of checked.filter(({ health }) => health !== ''))
          if (state === 'running' && !signal.aborted) await run('podman', ['healthcheck', 'run', id], { env: podman.env })
        await wait(healthEveryMs, undefined, { signal }).catch(() => undefined)
      }
    }
    this.#health = watch()
  }

  async close(): Promise<void> {
    this.#healthEnd.abort()
    await this.#health
  }

  async #inspected(): Promise<Inspected[]> {
    const { podman, project } = this.#options
    const label = `label=com.docker.compose.project=${project}`
    const ids = (await podman.do(['ps', '--all', '--quiet', '--no-trunc', '--filter', label])).split('\n').filter(Boolean)
    if (ids.length === 0) return []
    // One that ended meanwhile is gone, and the others are asked anew.
    const { code, stdout } = await run('podman', ['inspect', '--type', 'container', ...ids], { env: podman.env })
    return code === 0 ? (JSON.parse(stdout) as Inspected[]) : this.#inspected()
  }
}
