/** Where the focus is after each dialog: on what opened it, also if one dialog has led to another. */
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished, type TestContext } from 'vitest'
import { readDashboard } from '../../src/server/api/http/dashboard-files.ts'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'
import { createSystem, nowMs } from '../api/system-in-memory.ts'
import { openBrowser, openPage } from './browser.ts'
import { buildDashboard } from './site.ts'

let browser: Browser
beforeAll(async () => {
  await buildDashboard()
  browser = await openBrowser()
})
afterAll(() => browser?.close())

const daily = (hour: number) => ({ schedule: { cron: `0 ${hour} * * *` }, target: { handler: 'mail' } })

async function open(context: TestContext, path: string) {
  const dashboard = readDashboard(fileURLToPath(new URL('../../dist/dashboard', import.meta.url)))
  const system = createSystem({ dashboard })
  onTestFinished(() => system.api.stop())
  system.add('bill', { definition: completeDefinition(daily(9)), nextFireAt: nowMs })
  const url = await system.api.instance.listen({ port: 0, host: '127.0.0.1' })
  return { url, page: await openPage(context, browser, `${url}${path}`) }
}

const dialogOf = (page: Page) => page.getByRole('dialog')
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** The name of what has the focus when no dialog is there any more. */
async function focusAfter(page: Page): Promise<string> {
  await dialogOf(page).waitFor({ state: 'detached' })
  return page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')
}

it('is on the button of a menu, after the menu and after what was chosen in it', async (context) => {
  const { page } = await open(context, '/jobs')
  const more = 'More actions: bill'
  await press(page, more)
  await page.keyboard.press('Escape')
  expect(await focusAfter(page)).toBe(more)
  await press(page, more)
  await press(page, 'Delete bill')
  await dialogOf(page).getByText('cannot be undone').waitFor()
  await press(page, 'Cancel')
  expect(await focusAfter(page)).toBe(more)
  await press(page, more)
  await press(page, 'Backfill bill')
  await dialogOf(page).getByText('Creates one run').waitFor()
  await press(page, 'Cancel')
  expect(await focusAfter(page)).toBe(more)
})

it('is where it was before the palette and the help', async (context) => {
  const { page } = await open(context, '/jobs')
  await press(page, 'Help')
  await press(page, 'Close')
  expect(await focusAfter(page)).toBe('Help')
  await page.getByRole('button', { name: 'Pause bill' }).focus()
  await page.keyboard.press('Control+k')
  await dialogOf(page).getByRole('combobox').waitFor()
  await page.keyboard.press('Escape')
  expect(await focusAfter(page)).toBe('Pause bill')
  await page.keyboard.press('Control+k')
  await dialogOf(page).getByRole('combobox').fill('help on')
  await page.keyboard.press('Enter')
  await dialogOf(page).getByText('About this view').waitFor()
  await page.keyboard.press('Escape')
  expect(await focusAfter(page)).toBe('Pause bill')
})

it('is on the button of the editor after its questions', async (context) => {
  const { url, page } = await open(context, '/jobs/bill?edit')
  const text = page.getByRole('textbox', { name: 'Definition as JSON' })
  await text.fill((await text.inputValue()).replace('mail', 'post'))
  // The first version in this log has the number of the job that was there before it.
  for (const hour of [7, 8])
    await fetch(`${url}/v1/jobs/bill`, {
      ...{ method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(daily(hour)) },
    })
  const again = 'Begin again from the present definition'
  await press(page, again)
  await dialogOf(page).getByText('These lines of yours').waitFor()
  await press(page, 'Keep editing')
  expect(await focusAfter(page)).toBe(again)
  await press(page, 'Cancel')
  await dialogOf(page).getByText('Your changes to bill are lost.').waitFor()
  await page.keyboard.press('Escape')
  expect(await focusAfter(page)).toBe('Cancel')
})
