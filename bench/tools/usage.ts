/** Memory and processor time of processes, by Linux's /proc. */
import { readdir, readFile } from 'node:fs/promises'

/** The kernel counts processor time in hundredths of a second. */
const tickMs = 10

export interface Usage {
  /** Name of its program, and its whole command line. */
  command: string
  commandLine: string
  parent: number
  /** Resident memory in kB, and the same with pages of several processes counted by share. */
  rss: number
  pss: number
  /** User and system time since its start. */
  cpuMs: number
}

/** All processes of the machine that can be read, by pid. */
export async function processUsages(): Promise<Map<number, Usage>> {
  const usages = new Map<number, Usage>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const [stat, rollup, commandLine] = await Promise.all(
      ['stat', 'smaps_rollup', 'cmdline'].map((file) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '')),
    )
    if (!stat || !rollup) continue
    // The command is in brackets and may have spaces. After it: state, parent …; the 12th and 13th are user and system time.
    const end = stat.lastIndexOf(')')
    const fields = stat.slice(end + 2).split(' ')
    const kilobytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1])
    usages.set(Number(name), {
      command: stat.slice(stat.indexOf('(') + 1, end),
      commandLine: (commandLine ?? '').replaceAll('\0', ' '),
      parent: Number(fields[1]),
      rss: kilobytes('Rss'),
      pss: kilobytes('Pss'),
      cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs,
    })
  }
  return usages
}

/** By pid, `root` and all processes that descend from it. */
export async function usageOf(root: number): Promise<Map<number, Usage>> {
  const all = await processUsages()
  const isOurs = (pid: number | undefined): boolean =>
    pid === root || (pid !== undefined && pid > 1 && isOurs(all.get(pid)?.parent))
  return new Map([...all].filter(([pid]) => isOurs(pid)))
}

/** Processor time of all Kafka brokers of this machine. */
export async function brokersCpuMs(): Promise<number> {
  let sum = 0
  for (const { commandLine, cpuMs } of (await processUsages()).values()) if (/ kafka\.Kafka /.test(commandLine)) sum += cpuMs
  return sum
}
