import { describe, expect, it } from 'vitest'
import type { PartitionStore } from '../../../src/ground/ports/store.ts'
import type { SchedulerCodecs } from '../../../src/scheduler/options/options.ts'
import { recentMax, SearchIndex, WrittenDefinitions } from '../../../src/scheduler/queries/search-index.ts'
import { definitionKey, definitionValue } from '../../../streams/state/keys.ts'
import { memoryStore } from '../../tools/memory-store.ts'

/** The search index reads only the handler, so a definition here is its name. */
const codecs = {
  definition: { decode: (bytes: Buffer) => ({ target: { handler: bytes.toString() } }) },
} as unknown as SchedulerCodecs
const put = (store: PartitionStore, id: string, handler: string): Promise<void> =>
  store.apply([{ key: definitionKey(id), value: definitionValue({ offset: 0, appendedAt: 0, bytes: Buffer.from(handler) }) }])

async function filled(count: number) {
  const searchIndex = new SearchIndex()
  const written = new WrittenDefinitions()
  const store = written.hook({ partition: 0 }).opened(memoryStore())
  const id = (index: number): string => `job-${String(index).padStart(5, '0')}`
  for (let index = 0; index < count; index++) await put(store, id(index), index % 1_000 === 999 ? 'rare' : 'common')
  const build = async (looked = 1_000_000): Promise<number> => {
    searchIndex.note(written.take(0))
    return searchIndex.advance(store, codecs, looked)
  }
  return { searchIndex, store, id, build }
}

describe('a search index', () => {
  it('proposes the jobs of a handler in the order of their ids, up to its limit', async () => {
    const { searchIndex, id, build } = await filled(3_500)
    expect(await build()).toBe(3_500)
    expect(searchIndex.propose({ handler: 'rare' }, undefined, 10)).toMatchObject({
      ids: [id(999), id(1_999), id(2_999)],
      upTo: undefined,
      looked: 3_500,
    })
    const first = searchIndex.propose({ handler: 'rare' }, undefined, 1)
    expect(first).toMatchObject({ ids: [id(999)], upTo: id(999), isCut: true })
    expect(searchIndex.propose({ handler: 'rare' }, id(999), 1).ids).toEqual([id(1_999)])
    expect(searchIndex.propose({ handler: 'none' }, undefined, 10).ids).toEqual([])
  })

  it('finds a part of an id at any place', async () => {
    const { searchIndex, store, build } = await filled(500)
    await put(store, 'ämter', 'common')
    await build()
    expect(searchIndex.propose({ idContains: '00042' }, undefined, 10).ids).toEqual(['job-00042'])
    expect(searchIndex.propose({ idContains: 'b-0004' }, undefined, 100).ids).toHaveLength(10)
    expect(searchIndex.propose({ idContains: 'ämt' }, undefined, 10).ids).toEqual(['ämter'])
    expect(searchIndex.propose({ idContains: '0042', handler: 'rare' }, undefined, 10).ids).toEqual([])
    // The end of one id and the beginning of the next do not match together.
    expect(searchIndex.propose({ idContains: '9job' }, undefined, 10).ids).toEqual([])
  })

  it('reports its progress while it is built, and proposes nothing beyond', async () => {
    const { searchIndex, id, build } = await filled(2_500)
    expect(searchIndex.propose({ handler: 'rare' }, undefined, 10)).toMatchObject({ ids: [], upTo: '' })
    expect(await build(1_000)).toBe(1_000)
    expect(searchIndex.propose({ handler: 'rare' }, undefined, 10)).toMatchObject({ ids: [id(999)], upTo: id(999) })
    expect(await build(1_000)).toBe(1_000)
    expect(searchIndex.propose({ handler: 'rare' }, id(999), 10)).toMatchObject({ ids: [id(1_999)], upTo: id(1_999) })
    // A search that is already further is not sent back.
    expect(searchIndex.propose({ handler: 'rare' }, id(2_400), 10)).toMatchObject({ ids: [], upTo: id(2_400) })
    await build()
    expect(searchIndex.propose({ handler: 'rare' }, id(1_999), 10)).toMatchObject({ ids: [], upTo: undefined })
  })

  it('contains jobs that are written after it was built, in their order', async () => {
    const { searchIndex, store, id, build } = await filled(1_200)
    await build()
    await put(store, id(5), 'rare')
    await put(store, 'z', 'rare')
    await put(store, id(999), 'common')
    await build()
    expect(searchIndex.propose({ handler: 'rare' }, undefined, 10).ids).toEqual([id(5), id(999), 'z'])
    expect(searchIndex.propose({ handler: 'rare' }, undefined, 1)).toMatchObject({ ids: [id(5), id(999)], upTo: id(999) })
    expect(searchIndex.propose({ handler: 'rare' }, id(999), 10).ids).toEqual(['z'])
  })

  it('is dropped when too much was written since, and rebuilt by the next search', async () => {
    const { searchIndex, store, build } = await filled(10)
    await build()
    for (let index = 0; index <= recentMax; index++) await put(store, `new-${index}`, 'rare')
    expect(await build()).toBe(10 + recentMax + 1)
    expect(searchIndex.propose({ idContains: `new-${recentMax}` }, undefined, 10).ids).toEqual([`new-${recentMax}`])
  })
})
