/** Times of the dashboard in a real Chromium, from typed text or a click to the rows that answer it. */
import { type Browser, chromium, type Page } from 'playwright-core'

export async function pageTimes(url: string): Promise<Record<string, number>> {
  const browser: Browser = await chromium.launch({
    executablePath: process.env.DUELOG_TEST_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    const times: Record<string, number> = {}
    const timed = async (name: string, deed: () => Promise<void>): Promise<void> => {
      const startedMs = performance.now()
      await deed()
      times[name] = Math.round(performance.now() - startedMs)
    }
    await timed('open', async () => {
      await page.goto(`${url}/jobs`)
      await rows(page).first().waitFor()
    })
    await timed('nextPage', async () => {
      const before = await rows(page).first().textContent()
      await page.getByRole('link', { name: 'Next page' }).click()
      await rows(page)
        .first()
        .filter({ hasNotText: before ?? '' })
        .waitFor()
    })
    for (const [name, field, text] of searches) {
      await page.goto(`${url}/jobs`)
      await rows(page).first().waitFor()
      await timed(name, () => search(page, field, text))
    }
    await page.goto(`${url}/jobs`)
    await rows(page).first().waitFor()
    await timed('statusPaused', async () => {
      await page.getByLabel('Status').selectOption('PAUSED')
      await page
        .locator('tbody tr', { hasText: /active/i })
        .first()
        .waitFor({ state: 'detached' })
      await rows(page).first().waitFor()
    })
    return times
  } finally {
    await browser.close()
  }
}

const searches = [
  ['idContains', 'Id contains', 'needle'],
  ['tagRare', 'Tag', 'tag-rare'],
  ['handlerRare', 'Handler', 'rare'],
  ['handlerCommon', 'Handler', 'common'],
] as const

const rows = (page: Page) => page.locator('tbody tr')

/** Waits until the first row holds the searched text. */
async function search(page: Page, field: string, text: string): Promise<void> {
  await page.getByLabel(field).fill(text)
  await page.keyboard.press('Enter')
  await rows(page).first().filter({ hasText: text }).waitFor()
}
