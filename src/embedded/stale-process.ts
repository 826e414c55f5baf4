/** Ends a broker or registry of ours that outlived the Duelog that started it. Never touches a process that is not provably ours. */
import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

/** The argument that marks a Java process as the one of this data folder. */
export function markOf(dataDir: string): string {
  return `-Dduelog.data=${dataDir}`
}

/** How long an ended process may take before it is killed. */
const stopMsMax = 20_000
const pollMs = 50

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
    for (let leftMs = stopMsMax; await ours(); leftMs -= pollMs) {
      if (leftMs <= 0) send(pid, 'SIGKILL')
      await wait(pollMs)
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
