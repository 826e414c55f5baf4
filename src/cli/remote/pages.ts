/** Lists of the API, page by page. */
import type { ApiClient, Request } from './api-client.ts'

/** Largest page of the API. */
const pageMax = 1_000

/** Passes at most `limit` items of the field to `take`; resolves with whether there are more. `goOn` is called after each page. */
export async function pagesOf<Item>(
  api: ApiClient,
  route: string,
  query: Request['query'],
  field: string,
  limit: number,
  take: (item: Item) => void,
  goOn: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  let left = limit
  let cursor: string | undefined
  do {
    const page = await api.get<Record<string, unknown>>(route, { ...query, limit: Math.min(left, pageMax), cursor })
    const items = page[field] as Item[]
    for (const item of items.slice(0, left)) take(item)
    cursor = (page.cursor as string | null) ?? undefined
    if (items.length > left) return true
    left -= items.length
    if (!(await goOn())) return false
  } while (cursor !== undefined && left > 0)
  return cursor !== undefined
}
