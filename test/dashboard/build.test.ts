import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { readDashboard } from '../../src/server/api/http/dashboard-files.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const kilobyte = 1_024

async function build(): Promise<ReturnType<typeof readDashboard>> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-dashboard-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await run(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--outDir', folder, '--emptyOutDir'], {
    cwd: root,
  })
  return readDashboard(folder)
}

it('is smaller than 200 KB in total when compressed, loads nothing from elsewhere and has no inline script', async () => {
  const files = await build()
  const sent = [...files.values()].reduce((sum, { gzip }) => sum + gzip.length, 0)
  expect(sent).toBeGreaterThan(10 * kilobyte)
  expect(sent).toBeLessThan(200 * kilobyte)
  const document = files.get('index.html')?.plain.toString() ?? ''
  expect(document).toContain('<div id="app">')
  expect(document).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bon\w+=|\sstyle=/)
  for (const [path, { plain }] of files) {
    const addresses = plain.toString().match(/(?:src|href|url\(|import\()\s*=?\s*["'(]?https?:[^"')\s]*/g) ?? []
    expect(addresses, path).toEqual([])
    if (path !== 'index.html') expect(path).toMatch(/^assets\/.*-[\w-]{8}\.\w+$/)
  }
})
