/** Proves that a fault has taken effect. A fault without effect proves nothing. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Place, schedulerPlaces } from '../places.ts'
import { last, type Stage, urlOf } from '../stage.ts'
import { apiToken } from '../system/duelog.ts'
import type { Program } from '../system/program.ts'

const lookMs = 250
const askMsMax = 5_000

/** Resolves when the condition holds. Rejects with what is missing if it does not hold within the limit. */
export async function proven(stage: Stage, missing: string, limitMs: number, isSo: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + limitMs
  while (!(await isSo())) {
    if (Date.now() > until) throw new Error(missing)
    await last(stage, lookMs)
  }
}

/** Whether the kernel says that the process is stopped. Without /proc the signal alone must do. */
export async function isSuspended(program: Program): Promise<boolean> {
  const stat = await readFile(`/proc/${await program.pid()}/stat`, 'utf8').catch(() => undefined)
  return stat === undefined || /\) [Tt] /.test(stat)
}

const ask = (stage: Stage, place: Place, path: string): Promise<Response> =>
  fetch(`${urlOf(stage, place)}/${path}`, {
    headers: { authorization: `Bearer ${apiToken}` },
    signal: AbortSignal.timeout(askMsMax),
  })

/** How far the wall clock of the process at a place is ahead of the clock of the drill, in ms, by the date of its answers. */
export async function clockAheadMs(stage: Stage, place: Place): Promise<number> {
  const answer = await ask(stage, place, 'livez')
  await answer.body?.cancel()
  return Date.parse(answer.headers.get('date') ?? '') - Date.now()
}

/** The number of firing partitions of each scheduler, from the API. */
async function firedBy(stage: Stage): Promise<Map<string, number>> {
  const answer = await ask(stage, 'api', 'v1/partitions').catch(() => undefined)
  if (answer?.ok !== true) return new Map()
  const { partitions } = (await answer.json()) as { partitions: { phase: string; instance: string | null }[] }
  const counts = new Map<string, number>()
  for (const { phase, instance } of partitions)
    if (phase === 'active' && instance !== null) counts.set(instance, (counts.get(instance) ?? 0) + 1)
  return counts
}

/**
 * Resolves when all running schedulers fire equally many partitions. A scheduler that has just started owns nothing for a while,
 * and a fault of it would hit nothing. After the limit it resolves with a sentence about the state.
 */
export async function untilShared(stage: Stage, limitMs: number): Promise<string | undefined> {
  const until = Date.now() + limitMs
  for (;;) {
    const counts = [...(await firedBy(stage)).values()]
    const running = schedulerPlaces.filter((place) => stage.system.schedulers[place].running).length
    if (counts.length === running && counts.every((count) => count * running === stage.partitions)) return undefined
    if (Date.now() > until) return `partitions are not shared evenly after ${limitMs / 1000} s: ${counts.join(', ')}`
    await last(stage, lookMs)
  }
}

/** The sum of a counter over all schedulers. */
export async function countedByOwners(stage: Stage, metric: string): Promise<number> {
  const counts = await Promise.all(
    schedulerPlaces.map(async (place) => {
      const answer = await ask(stage, place, 'metrics')
      if (!answer.ok) throw new Error(`${place} shows no metrics: ${answer.status}`)
      const lines = (await answer.text()).split('\n').filter((line) => line.startsWith(metric))
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Whether a handler of this job has started, by the files that handlers write. */
export async function hasStarted(stage: Stage, jobId: string): Promise<boolean> {
  const folder = join(stage.folder, 'starts')
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
  return texts.some((text) => text.includes(`${jobId}\t`))
}
