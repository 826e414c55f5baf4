/** Memory of a Duelog process, which is meant to be flat. */
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** V8's young generation, both halves. Smaller, what lives for a turn is copied again and again; larger, it gains little. */
const youngBytesMax = 32 * 1024 * 1024

/**
 * Keeps V8's young generation from growing beyond 32 MB. By default it grows to 128 MB under load, which a scheduler that restores a
 * million jobs had to no use. V8 takes a limit only before it starts, so its growth is ended and let go on as each collection finds it.
 *
 * And the old generation is collected when it has grown by 150 %. By default it may grow to four times what is in use: of 390 MB that a
 * scheduler had at the peak of a restore of 200,000 jobs, 100 were garbage.
 */
export function boundHeap(): void {
  setFlagsFromString('--heap-growing-percent=150')
  let isGrowing = true
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
    const mayGrow = (young?.space_size ?? 0) < youngBytesMax
    if (mayGrow === isGrowing) return
    isGrowing = mayGrow
    setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`)
  })
  observer.observe({ entryTypes: ['gc'] })
}
