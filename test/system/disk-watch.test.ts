/** The free space of the disk with the data folder: a metric, a warning well before it is full, and an orderly end. */
import { describe, expect, it } from 'vitest'
import { DiskWatch } from '../../src/program/system/health.ts'

const mb = 2 ** 20

function watchOf(isEmbedded: boolean) {
  const seen = { lines: [] as string[], gauge: 0, ends: [] as string[], free: 9_000 * mb }
  const log =
    (level: string) =>
    ({ event }: { event: string }): number =>
      seen.lines.push(`${level} ${event}`)
  let next: (() => void) | undefined
  const watch = new DiskWatch({
    dataDir: '/data',
    isEmbedded,
    clock: {
      nowMs: () => 0,
      at: (_, task) => {
        next = task
        return () => {
          next = undefined
        }
      },
    },
    logger: { warn: log('warn'), info: log('info') } as never,
    metrics: { diskFree: { set: (bytes) => Object.assign(seen, { gauge: bytes }) } },
    onFull: ({ code, message }) => void seen.ends.push(`${code} ${message}`),
    freeBytesOf: async () => seen.free,
  })
  /** The next look, with this much free. False: there is none. */
  const look = async (freeMb: number): Promise<boolean> => {
    seen.free = freeMb * mb
    if (next === undefined) return false
    next()
    await new Promise(setImmediate)
    return true
  }
  return { seen, watch, look }
}

describe('the watch of the disk', () => {
  it('warns once, and again only after there was space', async () => {
    const { seen, watch, look } = watchOf(true)
    await watch.start()
    for (const free of [1_025, 1_023, 900, 1_100, 1_200, 1_000]) expect(await look(free)).toBe(true)
    expect(seen.lines).toEqual(['warn disk-low', 'info disk-free', 'warn disk-low'])
    expect(seen.gauge).toBe(1_000 * mb)
    expect(seen.ends).toEqual([])
  })
  it('ends a process with an embedded broker before the disk is full, once', async () => {
    const { seen, watch, look } = watchOf(true)
    await watch.start()
    await look(128)
    expect(seen.ends).toEqual([])
    await look(127)
    expect(seen.ends).toEqual([expect.stringMatching(/^embedded-failed The disk of the data folder \/data has 127 MB left/)])
    expect(await look(1)).toBe(false)
  })
  it('leaves a process without one alone', async () => {
    const { seen, watch, look } = watchOf(false)
    await watch.start()
    await look(1)
    expect(seen.ends).toEqual([])
    expect(seen.lines).toEqual(['warn disk-low'])
  })
  it('ends with the process', async () => {
    const { watch, look } = watchOf(true)
    await watch.start()
    watch.stop()
    expect(await look(1)).toBe(false)
  })
})
