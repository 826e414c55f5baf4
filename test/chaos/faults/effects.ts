/** Whether a fault has happened: each asks its cause for proof, as one that did not take effect proves nothing. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Place, schedulerPlaces } from '../places.ts'
import { last, type Stage, urlOf } from '../stage.ts'
import { apiToken } from '../system/duelog.ts'
import type { Program } from '../system/program.ts'

const lookMs = 250
const askMsMax = 5_000

/** Resolves when it is so; rejects with what is missing when it is not within the limit. */
export async function proven(stage: Stage, missing: string, limitMs: number, isSo: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + limitMs
  while (!(await isSo())) {
    if (Date.now() > until) throw new Error(missing)
    await last(stage, lookMs)
  }
}

/** The kernel says that the process stands still. Where there is no /proc nobody can say, and the signal has to do. */
export async function isSuspended(program: Program): Promise<boolean> {
  const stat = await readFile(`/proc/${await program.pid()}/stat`, 'utf8').catch(() => undefined)
  return stat === undefined || /\) [Tt] /.test(stat)
}

const ask = (stage: Stage, place: Place, path: string): Promise<Response> =>
  fetch(`${urlOf(stage, place)}/${path}`, {
    headers: { authorization: `Bearer ${apiToken}` },
    signal: AbortSignal.timeout(askMsMax),
  })

/** How far the wall clock of the process at a place is ahead of ours, in ms, by the date of its answers. */
export async function clockAheadMs(stage: Stage, place: Place): Promise<number> {
  const answer = await ask(stage, place, 'livez')
  await answer.body?.cancel()
  return Date.parse(answer.headers.get('date') ?? '') - Date.now()
}

/** Sum of a counter over all schedulers. */
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

/** Whether a handler of one of these jobs has begun, as handlers write it down. */
export async function hasStarted(stage: Stage, jobId: string): Promise<boolean> {
  const folder = join(stage.folder, 'starts')
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
  return texts.some((text) => text.includes(`${jobId}\t`))
}
