/**
 * idle: `npm start` with its own broker and registry, without a job. Memory and processor time of all its processes, by Linux's
 * /proc. It has run for a minute before: by then the compilers of the virtual machines are done with what the start needs.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Bed } from '../tools/bed.ts'
import { Program } from '../tools/program.ts'

const settleMs = 60_000
/** The kernel counts processor time in hundredths of a second. */
const tickMs = 10
const mb = (kilobytes: number): number => Math.round(kilobytes / 1024)

interface Usage {
  command: string
  /** Resident memory in kB, and the same with pages of several processes counted by share. */
  rss: number
  pss: number
  cpuMs: number
}

/** `seconds`: how long the processor time is measured. */
export async function idle(_bed: Bed, seconds = 60): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-bench-idle-'))
  const { env } = await Program.settings(folder)
  const program = new Program(env)
  try {
    await program.ready()
    await setTimeout(settleMs)
    const group = program.child.pid ?? 0
    const before = await usageOf(group)
    await setTimeout(seconds * 1_000)
    const after = await usageOf(group)
    const percentOf = (usage: Usage, pid: number): number => (usage.cpuMs - (before.get(pid)?.cpuMs ?? 0)) / seconds / 10
    const all = [...after].filter(([, { command }]) => command !== 'sh')
    const sum = (of: (usage: Usage, pid: number) => number): number =>
      all.reduce((total, [pid, usage]) => total + of(usage, pid), 0)
    return {
      seconds,
      load: Number((loadavg()[0] ?? 0).toFixed(1)),
      rssMb: mb(sum(({ rss }) => rss)),
      pssMb: mb(sum(({ pss }) => pss)),
      cpuPercent: Number(sum(percentOf).toFixed(1)),
      processes: all.map(([pid, usage]) => ({
        command: usage.command,
        rssMb: mb(usage.rss),
        cpuPercent: Number(percentOf(usage, pid).toFixed(1)),
      })),
    }
  } finally {
    await program.end('SIGTERM')
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** By pid, all processes that descend from `root`. */
async function usageOf(root: number): Promise<Map<number, Usage>> {
  const usages = new Map<number, Usage>()
  const parents = new Map<number, { parent: number; usage: Usage }>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const [stat, rollup] = await Promise.all(
      ['stat', 'smaps_rollup'].map((file) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '')),
    )
    if (!stat || !rollup) continue
    // The command is in brackets and may have spaces. After it: state, parent …; the 12th and 13th are user and system time.
    const end = stat.lastIndexOf(')')
    const fields = stat.slice(end + 2).split(' ')
    const kilobytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1])
    const cpuMs = (Number(fields[11]) + Number(fields[12])) * tickMs
    const command = stat.slice(stat.indexOf('(') + 1, end)
    parents.set(Number(name), {
      parent: Number(fields[1]),
      usage: { command, rss: kilobytes('Rss'), pss: kilobytes('Pss'), cpuMs },
    })
  }
  const isOurs = (pid: number | undefined): boolean =>
    pid === root || (pid !== undefined && pid > 1 && isOurs(parents.get(pid)?.parent))
  for (const [pid, { usage }] of parents) if (isOurs(pid)) usages.set(pid, usage)
  return usages
}
