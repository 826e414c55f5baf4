/** Start of a long-running process: with settings that glibc reads only at startup. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { mallocEnvironment } from '../../src/program/cli/memory.ts'

const memory = fileURLToPath(new URL('../../src/program/cli/memory.ts', import.meta.url))
const script = `
  const { boundMalloc } = await import(${JSON.stringify(memory)})
  console.log('begins', process.pid)
  boundMalloc()
  console.log('runs', process.pid, process.env.MALLOC_MMAP_THRESHOLD_ ?? 'unset', process.execArgv[0], process.argv[1])
`

async function run(env: Record<string, string>, withChannel = false): Promise<{ pid: number | undefined; lines: string[] }> {
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script, 'one'], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit', ...(withChannel ? (['ipc'] as const) : [])],
  })
  let text = ''
  child.stdout?.on('data', (chunk) => {
    text += chunk
  })
  await once(child, 'close')
  return { pid: child.pid, lines: text.trim().split('\n') }
}

it('restarts once on Linux, as the same process with the same arguments', async () => {
  const { pid, lines } = await run({})
  const ends = {
    linux: [`begins ${pid}`, `runs ${pid} 131072 --no-warnings one`],
    others: [`runs ${pid} unset --no-warnings one`],
  }
  expect(lines).toEqual([`begins ${pid}`, ...ends[process.platform === 'linux' ? 'linux' : 'others']])
})

it('respects settings of the operator, and a process with a channel to its parent', async () => {
  const decided = await run({ MALLOC_ARENA_MAX: '1' })
  expect(decided.lines).toEqual([`begins ${decided.pid}`, `runs ${decided.pid} unset --no-warnings one`])
  const child = await run({}, true)
  expect(child.lines).toEqual([`begins ${child.pid}`, `runs ${child.pid} unset --no-warnings one`])
})

it('needs nothing without glibc, or with another allocator', () => {
  expect(mallocEnvironment({}, 'darwin')).toBeUndefined()
  expect(mallocEnvironment({ LD_PRELOAD: '/usr/lib/libjemalloc.so' }, 'linux')).toBeUndefined()
  expect(mallocEnvironment({ GLIBC_TUNABLES: 'glibc.malloc.tcache_count=0' }, 'linux')).toBeUndefined()
  expect(mallocEnvironment({ HOME: '/root' }, 'linux')).toEqual({ MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_ARENA_MAX: '2' })
})
