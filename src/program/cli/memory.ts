/** Limits on the memory of a Duelog process, which should stay flat. */
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * Settings of glibc's allocator. By default it raises the size from which a buffer gets its own pages to up to 32 MB, as buffers are
 * freed. Payloads and fetches then lie between small objects, and freed memory stays with the process. Measured with 200 jobs of 500 kB:
 * 392 MB at the peak without the first, 326 MB with it. Each arena keeps what was once freed in it, and there are up to eight for each
 * processor: a flood of requests would leave its memory in all of them.
 */
const mallocSettings = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_ARENA_MAX: '2' }

/** Variables that show that the operator has configured the allocator. */
const configured = /^(MALLOC_|GLIBC_TUNABLES$|LD_PRELOAD$)/

/** The settings to add to the environment; undefined when they are set, when the operator configured the allocator, or without glibc. */
export function mallocEnvironment(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> | undefined {
  return platform !== 'linux' || Object.keys(env).some((name) => configured.test(name)) ? undefined : mallocSettings
}

/** Restarts this process when the settings above are missing, because glibc reads them only at startup. It keeps its pid and takes 40 ms. */
export function boundMalloc(): void {
  const missing = mallocEnvironment(process.env)
  // A restart would lose the channel to a parent process.
  if (missing === undefined || process.send !== undefined) return
  try {
    process.execve?.(process.execPath, [process.argv0, ...process.execArgv, ...process.argv.slice(1)], {
      ...process.env,
      ...missing,
    })
  } catch {
    // Without the settings the process only needs more memory.
  }
}

/** Size of V8's young generation, both halves. A smaller one copies short-lived objects repeatedly; a larger one gains little. */
const youngBytesMax = 32 * 1024 * 1024

/**
 * Keeps V8's young generation from growing beyond 32 MB. By default it grows to 128 MB under load, which was of no use to a scheduler
 * that restored a million jobs. V8 accepts a limit only before it starts, so each collection turns the growth off or on.
 *
 * The old generation is collected when it has grown by 150 %. By default it may grow to four times the memory in use: of the 390 MB that
 * a scheduler had at the peak of a restore of 200,000 jobs, 100 MB were garbage.
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
