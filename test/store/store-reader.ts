/** Fills a store, or reads one twice and says what that took: `node --expose-gc store-reader.ts FOLDER write|read`. */
import { fill, readAll } from '../../bench/cases/stores.ts'
import { rocksStores } from '../../src/log/store/rocks-store.ts'

const jobs = 100_000
const [folder = '', how] = process.argv.slice(2)
const { store } = await rocksStores(folder).open(0)
const residentMb = (): number => {
  globalThis.gc?.()
  return process.memoryUsage.rss() / 1e6
}
if (how === 'write') await fill(store, jobs)
else {
  // So that code and buffers of reading are there.
  await readAll(store, 5_000)
  const beforeMb = residentMb()
  await readAll(store, jobs)
  await readAll(store, jobs)
  process.stdout.write(JSON.stringify({ beforeMb, afterMb: residentMb() }))
}
await store.close()
