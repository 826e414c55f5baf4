/**
 * idle: `npm start` with its own broker and registry, without a job. Memory and processor time of all its processes, by Linux's
 * /proc. It has run for 90 s before: by then the compilers of the virtual machines
 * are done with what the start needs, and the registry sleeps.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Bed } from '../tools/bed.ts'
import { Program } from '../tools/program.ts'
import { type Usage, usageOf } from '../tools/usage.ts'

const settleMs = 90_000
const mb = (kilobytes: number): number => Math.round(kilobytes / 1024)

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
