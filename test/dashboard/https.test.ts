/** The dashboard in a real browser over HTTPS: signing in, live data, and a new certificate while it is open. */
import { createHash, X509Certificate } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../src/ground/clock/index.ts'
import { readDashboard } from '../../src/server/api/http/dashboard-files.ts'
import { createSystem } from '../api/system-in-memory.ts'
import { newAuthority, type Signed } from '../tools/certificates.ts'
import { openBrowser, openPage, view } from './browser.ts'
import { buildDashboard } from './site.ts'

const folder = mkdtempSync(join(tmpdir(), 'duelog-https-page-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeAll(buildDashboard)

const [before, after] = [newAuthority(folder, 'before'), newAuthority(folder, 'after')]
const [first, second, unknown] = [before.sign('first'), after.sign('second'), after.sign('unknown')]
const files = { certFile: join(folder, 'server.pem'), keyFile: join(folder, 'server.key') }
const install = ({ certFile, keyFile }: Signed): void => {
  copyFileSync(keyFile, files.keyFile)
  copyFileSync(certFile, files.certFile)
}
const keyHash = ({ cert }: Signed): string =>
  createHash('sha256')
    .update(new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64')
const token = 'admin-0123456789abcdef'

async function start() {
  install(first)
  const events: string[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void events.push(JSON.parse(line).msg) })
  const dashboard = readDashboard(fileURLToPath(new URL('../../dist/dashboard', import.meta.url)))
  const apiTokens = [{ role: 'admin' as const, token }]
  const system = createSystem({ https: files, logger, dashboard, apiTokens, clock: systemClock })
  onTestFinished(() => system.api.stop())
  const url = await system.api.listen('127.0.0.1', 0)
  return { system, url, events }
}

it('people sign in, see live data, and go on when the certificate is replaced', async (context) => {
  const { system, url, events } = await start()
  // The browser trusts these two keys, and no authority of ours.
  const browser = await openBrowser([`--ignore-certificate-errors-spki-list=${[first, second].map(keyHash).join(',')}`])
  context.onTestFinished(() => browser.close())
  const page = await openPage(context, browser, url)
  const asked = new Set<string>()
  page.on('request', (request) => asked.add(new URL(request.url()).origin))
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Live', { exact: true }).waitFor()
  await view(page, 'Jobs').click()
  system.add('seen-at-once')
  await page.getByRole('link', { name: 'seen-at-once' }).waitFor()

  install(second)
  await vi.waitUntil(() => events.some((text) => /certificate of the HTTP server was replaced/.test(text)), { timeout: 60_000 })
  system.add('seen-after-renewal')
  await page.getByRole('link', { name: 'seen-after-renewal' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()

  expect([...asked]).toEqual([url])
  expect(await page.context().cookies()).toEqual([])
  expect(await page.evaluate('location.href + document.cookie + JSON.stringify(localStorage)')).not.toContain(token)

  const other = await openBrowser([`--ignore-certificate-errors-spki-list=${keyHash(second)}`])
  context.onTestFinished(() => other.close())
  const fresh = await other.newPage()
  const answer = await fresh.goto(url)
  expect(await answer?.securityDetails()).toMatchObject({ issuer: 'after', subjectName: 'second' })
  expect(answer?.headers()['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'/)

  install(unknown)
  const replaced = () => events.filter((text) => /certificate of the HTTP server was replaced/.test(text)).length
  await vi.waitUntil(() => replaced() === 2, { timeout: 60_000 })
  const stranger = await openBrowser([`--ignore-certificate-errors-spki-list=${keyHash(second)}`])
  context.onTestFinished(() => stranger.close())
  await expect((await stranger.newPage()).goto(url)).rejects.toThrow(/ERR_CERT_AUTHORITY_INVALID/)
})
