/** A terminal of a reader: commands in one folder after another, with their own ports in place of those that the pages show. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import pkg from '../../package.json' with { type: 'json' }
import { brokers, registryUrl, uniquePrefix } from '../kafka/harness.ts'
import { duelogEnvironment } from '../setup/environment.ts'
import { distinctPorts } from '../setup/free-ports.ts'
import { modules } from '../setup/packed.ts'

/** Ends a command that hangs: one that ends, and one that stays and has to write something first. An installation takes long on a busy machine. */
const commandMsMax = 150_000
const root = join(modules, '..')

/** What npx does for a program of the project, without starting npm, which takes a second. */
const quickNpx = 'npx() { "./node_modules/.bin/$1" "${@:2}"; }; export -f npx\n'
/** The same for `npm start` in the clone, with the script of package.json. */
const quickStart = `npm() { if [ "$1" = start ]; then [ "$2" != -- ] || shift; ${pkg.scripts.start} "\${@:2}"; else command npm "$@"; fi; }; `

export interface Opening {
  folder: string
  /** Where the first command runs. */
  cwd: string
  /** The terminal whose system the commands use. Default: one of its own, with topics and a port of its own. */
  beside?: Terminal
  /** False: `npx` and `npm start` are functions that do the same faster. */
  realNpm: boolean
  /** Where Node keeps compiled code, for all terminals of a run: to start a process takes half the processor time. */
  compiled: string
}

interface Stays {
  child: ChildProcess
  output: string
  ended: boolean
  /** By us. */
  stopped: boolean
}

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

export class Terminal {
  readonly folder: string
  readonly prefix: string
  readonly #port: number
  readonly #settings: Record<string, string>
  /** Functions of the shell in the folder of the clone. */
  readonly #beforeStart: string
  readonly #stays: Stays[] = []
  #system: Stays | undefined

  static async open({ folder, cwd, beside, realNpm, compiled }: Opening): Promise<Terminal> {
    const [port = 0] = beside === undefined ? await distinctPorts(1) : [beside.#port]
    await mkdir(join(folder, '.terminal'), { recursive: true })
    await writeFile(join(folder, '.terminal/cwd'), cwd)
    await writeFile(join(folder, '.terminal/env'), realNpm ? '' : quickNpx)
    return new Terminal(folder, beside?.prefix ?? uniquePrefix(), port, realNpm ? '' : quickStart, compiled)
  }

  private constructor(folder: string, prefix: string, port: number, start: string, compiled: string) {
    this.#beforeStart = start
    this.folder = folder
    this.prefix = prefix
    this.#port = port
    this.#settings = {
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DUELOG_TOPIC_PREFIX: prefix,
      DUELOG_HTTP_PORT: String(port),
      DUELOG_DATA_DIR: join(folder, 'data'),
      DUELOG_PARTITIONS: '2',
      DUELOG_REPLICATION: '1',
      NODE_COMPILE_CACHE: compiled,
      DUELOG_URL: `http://127.0.0.1:${port}`,
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** The text with the addresses and the prefix of this test in place of those of `npm start`. */
  toOurs(text: string): string {
    return text
      .replaceAll(
        "brokers: '127.0.0.1:19092'",
        `brokers: '${brokers.join(',')}', registryUrl: '${registryUrl}', topicPrefix: '${this.prefix}'`,
      )
      .replaceAll('http://127.0.0.1:18081/apis/ccompat/v7', registryUrl)
      .replaceAll('127.0.0.1:19092', brokers.join(','))
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${this.#port}`)
      .replace(/(?<![\w./@-])duelog\.(?=(jobs|executions|runs|job-state|scheduler)\b)/g, this.prefix)
  }

  /** The reverse, for an output. */
  #toShown(text: string): string {
    return text
      .replaceAll(this.url, 'http://127.0.0.1:8080')
      .replaceAll(this.prefix, 'duelog.')
      .replaceAll(brokers.join(','), '127.0.0.1:19092')
      .replaceAll(this.folder, '…')
  }

  /** Runs a block to its end, in the folder and with the variables that the former block left. */
  async run(code: string): Promise<Ended> {
    const child = this.#spawn(code)
    let [stdout, stderr] = ['', '']
    child.stdout?.on('data', (piece) => (stdout += piece))
    child.stderr?.on('data', (piece) => (stderr += piece))
    const tooLong = setTimeout(() => kill(child, 'SIGKILL'), commandMsMax)
    const [exit, signal] = (await once(child, 'close')) as [number | null, string | null]
    clearTimeout(tooLong)
    if (signal !== null || exit === null)
      throw new Error(`Not ended within ${commandMsMax} ms:\n${code}\nIt wrote:\n${stdout}${stderr}`)
    return { code: exit, stdout: this.#toShown(stdout), stderr: this.#toShown(stderr) }
  }

  /** Starts a block that runs until `close`. */
  stay(code: string): void {
    this.#start(code)
  }

  /** Starts a Duelog in place of the one before, and resolves when it is ready. */
  async startSystem(code: string): Promise<void> {
    if (this.#system !== undefined) await end(this.#system)
    this.#system = this.#start(code, root)
    await this.#wrote(this.#system, (output) => output.includes('\nReady.\n'))
  }

  /** Resolves when the last command that stays has written what the condition asks for. */
  async lastWrote(condition: (output: string) => boolean): Promise<void> {
    const last = this.#stays.at(-1)
    if (last === undefined) throw new Error('No command stays.')
    await this.#wrote(last, condition)
  }

  /** What commands wrote that should have stayed, and did not. */
  endedByThemselves(): string[] {
    return this.#stays.filter(({ ended, stopped }) => ended && !stopped).map(({ output }) => output)
  }

  async close(): Promise<void> {
    for (const stays of this.#stays.toReversed()) await end(stays)
  }

  #start(code: string, cwd?: string): Stays {
    const child = this.#spawn(code, cwd)
    const stays: Stays = { child, output: '', ended: false, stopped: false }
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (piece) => {
        stays.output += piece
        child.emit('said')
      })
    child.once('close', () => {
      stays.ended = true
      child.emit('said')
    })
    this.#stays.push(stays)
    return stays
  }

  async #wrote(stays: Stays, condition: (output: string) => boolean): Promise<void> {
    const signal = AbortSignal.timeout(commandMsMax)
    while (!condition(this.#toShown(stays.output))) {
      if (stays.ended) throw new Error(`The command has ended. It wrote:\n${stays.output}`)
      await once(stays.child, 'said', { signal }).catch(() => {
        throw new Error(`The command did not write what the page shows within ${commandMsMax} ms. It wrote:\n${stays.output}`)
      })
    }
  }

  #spawn(code: string, cwd?: string): ChildProcess {
    const state = join(this.folder, '.terminal')
    const before = cwd === undefined ? `cd "$(cat '${state}/cwd')"; . '${state}/env'` : `cd '${cwd}'; ${this.#beforeStart}:`
    const after = cwd === undefined ? `trap 'pwd > ${state}/cwd; { export -p; declare -f npx || :; } > ${state}/env' EXIT` : ':'
    const path = `${join(modules, '.bin')}${delimiter}${process.env.PATH}`
    return spawn('bash', ['-c', `set -eo pipefail; ${before}; ${after}\n${this.toOurs(code)}`], {
      // Three systems start at once here; test/executor/processes.test.ts and test/faults/graceful-end.test.ts run the processes of one.
      env: duelogEnvironment({
        DUELOG_ONE_PROCESS: 'true',
        ...this.#settings,
        PATH: path,
        // The pages show times in UTC.
        TZ: 'UTC',
        NO_COLOR: '1',
        npm_config_update_notifier: 'false',
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: Ctrl-C reaches all processes of a terminal.
      detached: true,
    })
  }
}

function kill(child: ChildProcess, signal: 'SIGINT' | 'SIGKILL'): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // It has ended.
  }
}

/** Ctrl-C. */
async function end(stays: Stays): Promise<void> {
  stays.stopped = true
  if (!stays.ended) {
    const closed = once(stays.child, 'close')
    kill(stays.child, 'SIGINT')
    const tooLong = setTimeout(() => kill(stays.child, 'SIGKILL'), commandMsMax)
    await closed
    clearTimeout(tooLong)
  }
}
