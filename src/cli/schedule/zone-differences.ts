/**
 * For each time zone of jobs: from when on the rules of a running Duelog and those of this process differ. The API is asked for the noons
 * of the next years in that zone, which every version supports.
 */
import { definitionFromJson } from '../../../streams/definitions/index.ts'
import { occurrences } from '../../../streams/schedules/index.ts'
import type { ApiClient } from '../remote/index.ts'
import { numberText } from '../terminal/index.ts'

/** Days compared from now: nearly three years. */
const noons = 1_000
/** Maximum of zones. The time zone database has about 600 names, including aliases. */
const zonesMax = 2_000

interface Difference {
  since: number | null
  moved: number
  later: number
}

export class ZoneDifferences {
  readonly #api: Pick<ApiClient, 'post'>
  readonly #found = new Map<string, Difference>()

  constructor(api: Pick<ApiClient, 'post'>) {
    this.#api = api
  }

  /** Epoch ms of the first noon that differs between the rules; null when none does. */
  async since(timezone: string): Promise<number | null> {
    const known = this.#found.get(timezone)
    if (known !== undefined) return known.since
    const since = await this.#compare(timezone)
    if (this.#found.size < zonesMax) this.#found.set(timezone, { since, moved: 0, later: 0 })
    return since
  }

  count(timezone: string, moves: boolean): void {
    const found = this.#found.get(timezone)
    if (found === undefined) return
    if (moves) found.moved++
    else found.later++
  }

  /** One line for each zone with jobs that move. */
  text(): string {
    let text = ''
    for (const [timezone, { since, moved, later }] of this.#found) {
      if (moved + later === 0) continue
      const when = since === null ? '' : `, rules differ from ${new Date(since).toISOString().slice(0, 10)}`
      text += `${timezone}: ${numberText(moved)} ${moved === 1 ? 'moves at its' : 'move at their'} next time, ${numberText(later)} may move later${when}\n`
    }
    return text
  }

  async #compare(timezone: string): Promise<number | null> {
    const schedule = { cron: '0 12 * * *', timezone }
    const { fires } = await this.#api.post<{ fires: { atMs: number }[] }>('/v1/schedules/preview', { schedule, count: noons })
    const [first] = fires
    const read = definitionFromJson({ id: 'noon', schedule, target: { handler: 'noop' } })
    if (first === undefined || !read.ok) return null
    const from = first.atMs - 86_400_000
    // One set of rules may have one noon more before the first noon of the other.
    const ours = new Set(occurrences(read.definition, from, { from: from + 1, max: noons + 2 }))
    return fires.find(({ atMs }) => !ours.has(atMs))?.atMs ?? null
  }
}
