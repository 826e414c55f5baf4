/**
 * From when on the rules of a running Duelog and those of this process differ, for each zone that jobs are in. The API is asked when it
 * is noon there, for the next years, which any version of it can say.
 */
import { definitionFromJson } from '../../../streams/definitions/index.ts'
import { occurrences } from '../../../streams/schedules/index.ts'
import type { ApiClient } from '../remote/index.ts'
import { numberText } from '../terminal/index.ts'

/** Days that are compared, from now: nearly three years. */
const noons = 1_000
/** The database of time zones has about 600 names, with their other spellings. */
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

  /** Epoch ms of the first noon that is not one by the other rules; null where there is none. */
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

  /** A line for each zone in which jobs move. */
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
    // By one set of rules a noon more may lie before the first of the other.
    const ours = new Set(occurrences(read.definition, from, { from: from + 1, max: noons + 2 }))
    return fires.find(({ atMs }) => !ours.has(atMs))?.atMs ?? null
  }
}
