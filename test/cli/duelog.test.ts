/** The program in its own process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { duelog } from './built-program.ts'

const file = fileURLToPath(new URL('../../src/program/cli/duelog.ts', import.meta.url))

function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    text.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    text.err += chunk
  })
  const closed = once(child, 'close') as Promise<[code: number | null, signal: string | null]>
  const said = async (words: string): Promise<void> => {
    while (!text.err.includes(words)) {
      const more = await Promise.race([once(child.stderr, 'data'), closed])
      if (child.exitCode !== null && more.length === 2) throw new Error(`It ended before it said "${words}":\n${text.err}`)
    }
  }
  return { child, text, closed, said }
}

/** A fake Duelog with this many jobs, of about 1,000 bytes each; its address, and when it has answered. */
async function serverOf(jobs: number): Promise<{ url: string; answered: Promise<unknown> }> {
  const body = JSON.stringify({
    jobs: Array.from({ length: jobs }, (_, id) => ({ id, reason: 'x'.repeat(1_000) })),
    cursor: null,
  })
  const answered = Promise.withResolvers<void>()
  const server = createServer((_request, response) => void response.end(body, () => answered.resolve()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answered: answered.promise }
}

describe('duelog', () => {
  it('is a program that a shell can run', async () => {
    expect((await stat(file)).mode & 0o111).not.toBe(0)
  })
  it('reads jobs from a pipe, and ends with the exit code that scripts look at', async () => {
    const ended = await duelog(['jobs', 'apply', '-', '--url', 'http://127.0.0.1:9'], { input: '{"id": "a"}\n' })
    expect(ended).toMatchObject({ code: 3, out: '', err: expect.stringMatching(/^duelog: Cannot reach Duelog at [^\n]+\n$/) })
  })
  it('says that Duelog is unreachable also when the input is larger than a connection buffers', async () => {
    const line = (index: number) => `${JSON.stringify({ id: `a-${index}`, payload: 'x'.repeat(1_000) })}\n`
    const input = Array.from({ length: 20_000 }, (_, index) => line(index)).join('')
    const ended = await duelog(['jobs', 'apply', '-', '--url', 'http://127.0.0.1:9'], { input })
    expect(ended).toMatchObject({ code: 3, out: '', err: expect.stringMatching(/^duelog: Cannot reach Duelog at [^\n]+\n$/) })
  })
  it('waits until a slow reader has all its output', async () => {
    const { url, answered } = await serverOf(1_000)
    const child = spawn(process.execPath, [file, 'jobs', 'list', '--limit', '1000', '--json', '--url', url])
    const closed = once(child, 'close')
    await answered
    await once(child.stdout, 'readable')
    const text = (await child.stdout.toArray()).join('')
    expect(text.trim().split('\n').at(-1)).toContain('"id":999,')
    expect((await closed)[0]).toBe(0)
  })
  it('ignores a reader that closes its end early', async () => {
    const { url } = await serverOf(1_000)
    const { child, text, closed } = start(['jobs', 'list', '--limit', '1000', '--json', '--url', url])
    child.stdout.once('data', () => child.stdout.destroy())
    expect(await closed).toEqual([0, null])
    expect(text.err).toBe('')
  })
  it('runs benchmarks in their own processes, and passes on their exit codes', async () => {
    expect(await duelog(['bench', 'nothing'])).toMatchObject({ code: 1, out: '', err: expect.stringContaining('accept|') })
  })
  it('ends a wrong start with one line on stderr and exit code 1', async () => {
    const { text, closed } = start(['up', '--http-port', 'abc'])
    expect((await closed)[0]).toBe(1)
    expect(text.err.trim().split('\n')).toHaveLength(1)
    expect(text.out).toBe('')
  })
  it('runs until SIGTERM and then ends gracefully with exit code 0, having said where it listens', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'duelog-cli-'))
    const { child, text, closed, said } = start(['up', '--http-port', '0', '--partitions', '2', '--replication', '1'], {
      KAFKA_BROKERS: process.env.DUELOG_TEST_BROKERS ?? '',
      SCHEMA_REGISTRY_URL: process.env.DUELOG_TEST_REGISTRY ?? '',
      DUELOG_TOPIC_PREFIX: `cli-${process.pid}-${Date.now()}.`,
      DUELOG_DATA_DIR: dataDir,
    })
    try {
      await said('Registry')
      const url = /http:\/\/127\.0\.0\.1:\d+(?=\/readyz)/.exec(text.err)?.[0]
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      child.kill('SIGTERM')
      expect(await closed).toEqual([0, null])
      expect(text.err).toContain('Stopped.')
      for (const line of text.out.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg')
      expect(text.err).not.toContain('Warning')
    } finally {
      child.kill('SIGKILL')
      await rm(dataDir, { recursive: true, force: true })
    }
  })
})
