/** Lists jobs as a program does: page after page, until enough is found or everything is searched. */
import { setTimeout as wait } from 'node:timers/promises'

export interface Answered {
  found: number
  requests: number
  tookMs: number
}

interface Page {
  jobs?: unknown[]
  runs?: unknown[]
  cursor: string | null
}

export async function ask(url: string, query: string, wanted: number): Promise<Answered> {
  const startedMs = performance.now()
  let found = 0
  let requests = 0
  let cursor: string | null = null
  do {
    const more: string = cursor === null ? '' : `&cursor=${cursor}`
    const response = await fetch(`${url}/v1/jobs?limit=${wanted}&${query}${more}`)
    if (!response.ok) throw new Error(`The list with "${query}" was refused: ${await response.text()}`)
    const page = (await response.json()) as Page
    requests++
    found += page.jobs?.length ?? 0
    cursor = query.includes('cursor=') ? null : page.cursor
  } while (found < wanted && cursor !== null)
  return { found, requests, tookMs: performance.now() - startedMs }
}

/** Waits until the list has `wanted` jobs: owners apply last what was written last. */
export async function untilFound(url: string, path: string, wanted: number): Promise<void> {
  for (;;) {
    const page = (await (await fetch(url + path)).json()) as Page
    if ((page.jobs ?? page.runs ?? []).length >= Math.min(wanted, 1_000)) return
    await wait(500)
  }
}
