/** A real Chromium for tests of the dashboard, checks of accessibility with axe, and screenshots. */
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect, type TestContext } from 'vitest'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** DUELOG_TEST_CHROMIUM, or chromium on the PATH. Throws with advice when there is none. */
function chromiumPath(): string {
  const given = process.env.DUELOG_TEST_CHROMIUM
  const places =
    given === undefined ? (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'chromium')) : [given]
  for (const place of places) {
    try {
      accessSync(place, constants.X_OK)
      return place
    } catch {
      // Try the next place.
    }
  }
  throw new Error(
    'The dashboard tests need Chromium. Install it (Debian: apt-get install chromium), or set DUELOG_TEST_CHROMIUM to its path.',
  )
}

/** `more`: further arguments of the browser. */
export function openBrowser(more: readonly string[] = []): Promise<Browser> {
  // A container has no user to be protected by the sandbox, and its shared memory is small.
  return chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-dev-shm-usage', ...more] })
}

/** Violations that axe finds on the current page, as text. All rules but those of colors look at what a theme does not change. */
async function axeFindings(page: Page, rules: 'all' | 'colors'): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe)
  const options = rules === 'all' ? {} : { runOnly: ['color-contrast', 'link-in-text-block'] }
  return page.evaluate(async (given) => {
    interface Found {
      violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[]
    }
    const { violations } = await (globalThis as unknown as { axe: { run(options: object): Promise<Found> } }).axe.run(given)
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`))
  }, options)
}

/** Ends a step that hangs; no test asserts it. On a busy machine a page waits long until a thread of the server has started. */
export const stepMs = 90_000

/** Opens a page. Any script error on it fails the test. */
export async function openPage(context: TestContext, browser: Browser, url: string): Promise<Page> {
  const tabs = await browser.newContext({ viewport: wide, timezoneId: 'Europe/Berlin' })
  const page = await tabs.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy|Uncaught/.test(message.text())) faults.push(message.text())
  })
  page.setDefaultTimeout(stepMs)
  context.onTestFinished(async () => {
    // Says why a step has waited in vain.
    if (context.task.result?.state === 'fail') console.log(`The page shows:\n${await page.innerText('body').catch(String)}`)
    await tabs.close()
  })
  context.onTestFinished(() => expect(faults).toEqual([]))
  await page.goto(url)
  return page
}

const wide = { width: 1_280, height: 800 }
const phone = { width: 390, height: 844 }

/** What is wider than the screen, touches its neighbor, cannot be reached without scrolling sideways, or lies off the center. */
const misfits = `(() => {
  const found = []
  const over = document.documentElement.scrollWidth - innerWidth
  if (over > 0) found.push('the page is ' + over + ' px too wide')
  for (const part of document.querySelectorAll('main .scroll'))
    if (part.scrollWidth > part.clientWidth) found.push(part.getAttribute('aria-label') + ' is cut')
  for (const control of document.querySelectorAll('main :is(a, button, input, select, textarea)')) {
    const { left, right, width } = control.getBoundingClientRect()
    if (width > 0 && (left < -1 || right > innerWidth + 1)) found.push(control.outerHTML.slice(0, 80) + ' is off the screen')
  }
  const textOf = (part) => part.textContent.slice(0, 40)
  for (const part of document.querySelectorAll('table.fixed td > .status')) {
    const [cell, inner] = [part.parentElement.getBoundingClientRect(), part.getBoundingClientRect()]
    if (inner.right > cell.right - 4) found.push('the cell ' + textOf(part) + ' touches the next one')
  }
  for (const part of document.querySelectorAll('.strip figcaption > :not(:first-child)')) {
    const [before, own] = [part.previousElementSibling.getBoundingClientRect(), part.getBoundingClientRect()]
    const isBeside = own.top < before.bottom && own.bottom > before.top
    if (isBeside && own.left < before.right + 4) found.push('the caption ' + textOf(part) + ' touches another one')
  }
  const main = document.querySelector('main')
  const [frame, { left, right }] = [main.parentElement.getBoundingClientRect(), main.getBoundingClientRect()]
  const side = document.querySelector('.side')?.getBoundingClientRect().right ?? 0
  if (innerWidth > 1000 && side > 0 && Math.abs(left - side - (frame.right - right)) > 1) found.push('the content is not centered')
  return found
})()`

/**
 * Expects that axe finds nothing and nothing is cut or wider than the screen: in light on a phone and on a wide screen, and the colors in
 * dark, which no width changes. With DUELOG_TEST_SCREENS it writes screenshots of these three into that folder.
 */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  const folder = process.env.DUELOG_TEST_SCREENS
  if (folder !== undefined) mkdirSync(folder, { recursive: true })
  for (const [part, colorScheme, viewport] of [
    ['phone', 'light', phone],
    ['light', 'light', wide],
    ['dark', 'dark', wide],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize(viewport)
    await page.evaluate('scrollTo(0, 0)')
    const place = `${name}, ${colorScheme}, ${viewport.width} px`
    expect(await axeFindings(page, colorScheme === 'light' ? 'all' : 'colors'), place).toEqual([])
    if (colorScheme === 'light') expect(await page.evaluate(misfits), place).toEqual([])
    if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}-${part}.png`) })
  }
  await page.emulateMedia({ colorScheme: 'light' })
  for (const width of [1_024, 1_920]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await page.evaluate(misfits), `${name}, ${width} px`).toEqual([])
  }
  await page.setViewportSize(wide)
}

/** Link to a view. */
export const view = (page: Page, name: string) => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name })

/** The notice of what an action did. */
export const said = (page: Page, text: string | RegExp) => page.locator('.notice').filter({ hasText: text }).waitFor()

/** After navigation the focus is on the heading of the new view. */
export async function expectFocusOn(page: Page, heading: string): Promise<void> {
  await expect.poll(() => page.evaluate('document.activeElement.textContent'), { timeout: stepMs }).toBe(heading)
}
