/**
 * A Java process that cannot outlive us: process/guard.sh runs it and ends it when its pipe to us closes, by `stop` or by our death.
 * Its output goes straight to a file, so that it never waits for us to read.
 */
import { execFile, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, unwatchFile, watch, watchFile } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { DuelogError } from '../../ground/errors/index.ts'
import { guardScript, privateFileMode } from '../../ground/process/index.ts'

/** Between the request to end and the kill. */
const stopSecondsMax = 20
/** A start that takes longer has failed; on an idle machine it takes 3 to 6 s. */
const startMsMax = 120_000

interface ProcessPlan {
  /** Name and version for messages. */
  title: string
  java: string
  args: string[]
  cwd: string
  /** The child's only variables, so that no variable of the user changes its behavior. */
  env: NodeJS.ProcessEnv
  logFile: string
  pidFile: string
  dataDir: string
}

export interface GuardedProcess {
  /** Resolves when the program has ended, for whatever reason. */
  readonly exited: Promise<void>
  /** True once `stop` was called. */
  readonly stopping: boolean
  /** Resolves when a line of the output matches. Rejects with `embedded-failed` when the program ends before or takes too long. */
  line(pattern: RegExp): Promise<void>
  /** The error for a program that failed `how`, with the line of its output that names the cause. */
  failure(how: string): DuelogError
  /** Ends the program: SIGTERM, and SIGKILL after 20 s. Safe to call twice. */
  stop(): Promise<void>
}

/** Only the user may read the program's files. The shell gives its place to the guard, so that the process stays the same. */
const privately = 'umask 077 && exec /bin/sh "$0" "$@"'

export function startGuarded(plan: ProcessPlan): GuardedProcess {
  const { title, logFile, pidFile, dataDir } = plan
  keepPrevious(logFile)
  const log = openSync(logFile, 'w', privateFileMode)
  // Detached: a Ctrl-C at the terminal reaches us only, and we end the broker after its last user.
  const child = spawn('/bin/sh', ['-c', privately, guardScript, String(stopSecondsMax), pidFile, plan.java, ...plan.args], {
    cwd: plan.cwd,
    env: plan.env,
    stdio: ['pipe', log, log],
    detached: true,
  })
  closeSync(log)
  let exitCode: number | undefined
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      exitCode = code ?? undefined
      resolve()
    })
    child.once('error', () => resolve())
  })
  child.stdin?.on('error', () => {})
  let stopped: Promise<void> | undefined

  const failure = (how: string): DuelogError =>
    new DuelogError(
      'embedded-failed',
      `${title} ${how}: ${signalOf(exitCode) ?? reasonOf(readLog(logFile))} (all of its output: ${logFile}).`,
    )

  return {
    exited,
    get stopping() {
      return stopped !== undefined
    },
    line: (pattern) => lineIn(logFile, pattern, exited, failure),
    failure,
    stop() {
      stopped ??= (async () => {
        child.stdin?.end()
        await exited
        // A process is left here only if the guard itself was killed.
        await stopStale(pidFile, dataDir)
      })()
      return stopped
    },
  }
}

async function lineIn(
  file: string,
  pattern: RegExp,
  exited: Promise<void>,
  failure: (how: string) => DuelogError,
): Promise<void> {
  const found = Promise.withResolvers<void>()
  const check = (): void => {
    if (pattern.test(readLog(file))) found.resolve()
  }
  const unwatch = onChange(file, check)
  const limit = setTimeout(() => found.reject(failure(`was not ready within ${startMsMax / 1000} s`)), startMsMax)
  exited.then(() => found.reject(failure('ended while it was starting')))
  check()
  try {
    await found.promise
  } finally {
    clearTimeout(limit)
    unwatch()
  }
}

const pollMs = 100

function onChange(file: string, changed: () => void): () => void {
  try {
    const watcher = watch(file, changed).on('error', () => {})
    return () => watcher.close()
  } catch {
    // The kernel has no free watches, or the file system supports none: poll instead.
    watchFile(file, { interval: pollMs }, changed)
    return () => unwatchFile(file, changed)
  }
}

/** The output of the previous run stays readable as `….1`. */
function keepPrevious(logFile: string): void {
  try {
    renameSync(logFile, `${logFile}.1`)
  } catch {
    // There was no previous run.
  }
}

function readLog(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** The signal that has ended a program, by the exit code that a shell gives for it; undefined where it ended otherwise. */
function signalOf(exitCode: number | undefined): string | undefined {
  const number = (exitCode ?? 0) - 128
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? []
  if (name === undefined) return undefined
  return `${name} was sent to it${name === 'SIGKILL' ? ', as the system does where memory runs out' : ''}`
}

/** The line of a Java program's output that most likely says why it ended: the deepest cause, else the last error, else the last line. */
export function reasonOf(output: string): string {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(at |\.\.\. \d+ more)/.test(line))
  const full = lines.find((line) => /No space left on device/.test(line))
  const line =
    full ??
    lines.findLast((line) => line.startsWith('Caused by: ')) ??
    lines.findLast((line) => /error|exception|fatal|invalid|unable|cannot|could not/i.test(line)) ??
    lines.at(-1)
  return line?.replace('Caused by: ', '').replace(/\.$/, '') ?? 'it said nothing'
}

/** The argument that marks a Java process as the one of this data folder. */
export function markOf(dataDir: string): string {
  return `-Dduelog.data=${dataDir}`
}

/** How long an ended process may take before it is killed. */
const stopMsMax = 20_000
const stalePollMs = 50

/**
 * Stops the process that the pid file names, if it carries our mark, and removes the file.
 * Resolves with its pid if there was one to stop.
 */
export async function stopStale(pidFile: string, dataDir: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10)
  const ours = async (): Promise<boolean> => (await argumentsOf(pid)).includes(markOf(dataDir))
  const found = pid > 1 && (await ours())
  if (found) {
    send(pid, 'SIGTERM')
    // The kernel reports the end of a process only to its parent, which is dead here: this is the only place that must poll.
    for (let leftMs = stopMsMax; await ours(); leftMs -= stalePollMs) {
      if (leftMs <= 0) send(pid, 'SIGKILL')
      await wait(stalePollMs)
    }
  }
  await rm(pidFile, { force: true })
  return found ? pid : undefined
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended in between, as intended.
  }
}

/** The command line of a process in parts; empty when there is no such process. */
async function argumentsOf(pid: number): Promise<string[]> {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return text.split('\0')
  }
  const line = await new Promise<string>((resolve) => {
    execFile('ps', ['-ww', '-o', 'args=', '-p', String(pid)], (error, stdout) => resolve(error ? '' : stdout))
  })
  return line.trim().split(' ')
}
