/** Memory of a Duelog process, which is meant to be flat. */
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * How glibc is to keep memory. By itself it moves the size from which a buffer gets pages of its own up to 32 MB, as buffers are let go;
 * then payloads and fetches lie between small things, and what was let go stays with the process. Measured with 200 jobs of 500 kB:
 * 392 MB at the peak without, 326 MB with it.
 */
const mallocSettings = { MALLOC_MMAP_THRESHOLD_: '131072' }

/** What says that somebody has decided about it. */
const decided = /^(MALLOC_|GLIBC_TUNABLES$|LD_PRELOAD$)/

/** What a process needs of it beside its environment; undefined where it has it, where somebody decided otherwise, or where there is no glibc. */
export function mallocEnvironment(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> | undefined {
  return platform !== 'linux' || Object.keys(env).some((name) => decided.test(name)) ? undefined : mallocSettings
}

/** Begins this process anew, under its own id and in 40 ms, where the settings above are missing: they are read only as a program starts. */
export function boundMalloc(): void {
  const wanted = mallocEnvironment(process.env)
  // Whoever started it with a channel would lose that.
  if (wanted === undefined || process.send !== undefined) return
  try {
    process.execve?.(process.execPath, [process.argv0, ...process.execArgv, ...process.argv.slice(1)], {
      ...process.env,
      ...wanted,
    })
  } catch {
    // It only costs memory.
  }
}

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
