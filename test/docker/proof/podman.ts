/** Podman as a child process, with the runtime and the limits that work on any machine, and a Docker socket for the compose program. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** crun refuses machines with both versions of control groups; the limits are those of a normal user instead of none at all. */
const containersConf = `[engine]
runtime = "runc"
[containers]
default_ulimits = ["nofile=16384:16384", "nproc=8192:8192"]
`
/** `inspect` of twenty containers is 300 kB. */
const outputKept = 16_000_000

export interface Ended {
  code: number | null
  /** stdout and stderr, as they came. */
  output: string
  stdout: string
}

export interface RunOptions {
  env?: Record<string, string | undefined>
  cwd?: string
  /** Its output goes to the terminal too. */
  loud?: boolean
  timeoutMs?: number
}

/** Runs a program to its end. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { env = {}, cwd, loud = false, timeoutMs = 600_000 } = options
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  let [output, stdout] = ['', '']
  const hear = (text: Buffer): void => {
    output = (output + String(text)).slice(-outputKept)
    if (loud) process.stdout.write(text)
  }
  child.stdout.on('data', hear)
  child.stdout.on('data', (text: Buffer) => {
    stdout = (stdout + String(text)).slice(-outputKept)
  })
  child.stderr.on('data', hear)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output, stdout }))
  })
}

export class Podman {
  readonly env: Record<string, string>
  readonly #socket: string
  #service: ChildProcess | undefined

  private constructor(folder: string, socket: string) {
    this.env = { CONTAINERS_CONF: join(folder, 'containers.conf'), DOCKER_HOST: `unix://${socket}`, BUILDAH_FORMAT: 'docker' }
    this.#socket = socket
  }

  static async open(folder: string): Promise<Podman> {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'containers.conf'), containersConf)
    return new Podman(folder, join(folder, 'podman.sock'))
  }

  /** What it writes to stdout: where there is no systemd, Podman complains of it on stderr. Throws with the end of it when it fails. */
  async do(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, output, stdout } = await run('podman', args, { ...options, env: { ...this.env, ...options.env } })
    if (code !== 0) throw new Error(`podman ${args.join(' ')} ended with ${code}: ${output.slice(-2_000)}`)
    return stdout.trim()
  }

  /** The same with an answer in JSON. */
  async json<T>(args: readonly string[]): Promise<T> {
    return JSON.parse(await this.do(args)) as T
  }

  /** Serves Docker's protocol on the socket, for a compose program that speaks it. */
  serve(): void {
    this.#service = spawn('podman', ['system', 'service', '--time=0', `unix://${this.#socket}`], {
      env: { ...process.env, ...this.env },
      stdio: 'ignore',
    })
  }

  async close(): Promise<void> {
    const service = this.#service
    if (service === undefined || service.exitCode !== null) return
    const ended = new Promise((resolve) => service.once('exit', resolve))
    service.kill('SIGTERM')
    await ended
  }
}
