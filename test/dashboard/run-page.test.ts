import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectAccessible, openBrowser, openPage } from './browser.ts'
import { buildDashboard, openDashboardSite } from './site.ts'

const caseMs = 600_000

let browser: Browser
beforeAll(async () => {
  await buildDashboard()
  browser = await openBrowser()
})
afterAll(() => browser?.close())

describe('the page of a run', () => {
  it('shows input, result, attempts, errors with the stack, and leads to its neighbours', {
    timeout: caseMs,
  }, async (context) => {
    const site = await openDashboardSite(context)
    await site.start()
    const retry = { maxAttempts: 3, backoff: { fixed: { delayMs: 200 } } }
    // The name turns text around, and the payload has a control character.
    const id = 'bill\u202eing/night'
    const failing = { target: { handler: 'fail' }, payload: { times: 2, note: 'a\u202eb' }, retry, onFailure: ['alarm'] }
    await site.put('alarm', { schedule: { at: '2031-01-31T08:00:00Z' }, target: { handler: 'echo' } })
    await site.put(encodeURIComponent(id), { schedule: { everyMs: 600_000 }, ...failing })
    const page = await openPage(context, browser, `${site.url}/jobs/${encodeURIComponent(id)}`)
    await page.getByRole('heading', { name: 'bill⟨202E⟩ing/night' }).waitFor()
    const runNow = page.getByRole('button', { name: /^Run now/ })
    await runNow.click()
    await page.getByRole('row').filter({ hasText: 'succeeded' }).first().waitFor()
    const table = page.getByRole('region', { name: 'Table of runs' })
    await table.getByRole('link', { name: 'Run bill⟨202E⟩ing/night/1' }).click()
    await page.waitForURL(`**/jobs/${encodeURIComponent(id)}/runs/1`)
    await page.getByRole('heading', { name: 'run 1' }).waitFor()
    const attempts = page.getByRole('region', { name: 'Table of attempts' })
    await attempts.getByRole('rowheader', { name: '3', exact: true }).waitFor()
    expect(await attempts.getByRole('rowheader').allTextContents()).toEqual(['1', '2', '3'])
    const shown = await attempts
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader') })
      .allTextContents()
    expect(shown.map((row) => /succeeded|failed/.exec(row)?.[0])).toEqual(['failed', 'failed', 'succeeded'])
    // Due, dispatched, started and ended of each attempt are known.
    for (const row of shown) expect(row.match(/\d\d:\d\d:\d\d\.\d{3}/g)).toHaveLength(4)
    await page
      .getByRole('region', { name: /^Payload of run/ })
      .getByText('"note": "a⟨202E⟩b"')
      .waitFor()
    await page.getByText('Stack of the last error').waitFor()
    await page
      .getByRole('region', { name: /^Stack of run/ })
      .getByText(/at .*\.ts:\d+/)
      .waitFor()
    await page.getByRole('link', { name: 'alarm' }).waitFor()
    await expectAccessible(page, 'run')

    expect(await page.getByRole('link', { name: /^Next run/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'bill⟨202E⟩ing/night' }).click()
    await page.getByRole('button', { name: /^Run now/ }).click()
    await table.getByRole('link', { name: 'Run bill⟨202E⟩ing/night/2' }).click()
    await page.getByText('manual trigger').waitFor()
    await page.getByRole('link', { name: 'Previous run, 1' }).click()
    await page.getByRole('link', { name: 'Next run, 2' }).waitFor()
    await page.goto(`${site.url}/jobs/${encodeURIComponent(id)}/runs/7700`)
    await page.getByRole('heading', { name: 'run 7700' }).waitFor()
    await page.getByText('There is no run').waitFor()
    await expectAccessible(page, 'run-gone')
  })

  it('cancels a run, shows its progress, redrives a dead one, and sends each action once', {
    timeout: caseMs,
  }, async (context) => {
    const site = await openDashboardSite(context)
    await site.start()
    await site.put('endless', { schedule: { delayMs: 100 }, target: { handler: 'stuck' } })
    const once = { target: { handler: 'fail' }, payload: { times: 1 }, retry: { maxAttempts: 1 } }
    await site.put('doomed', { schedule: { delayMs: 100 }, ...once })
    const page = await openPage(context, browser, `${site.url}/jobs/endless/runs/1`)
    await page.getByRole('progressbar', { name: 'Progress of run endless/1' }).waitFor()
    await page.getByRole('button', { name: 'Cancel run endless/1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click()
    await page.locator('.heading .status', { hasText: 'cancelled' }).waitFor()
    expect(await page.getByRole('button', { name: 'Cancel run endless/1' }).count()).toBe(0)
    // The bar of the attempt was redrawn as SVG, which a browser shows, and not as an unknown element of HTML.
    const bars =
      '[...document.querySelectorAll(".track .bar")].map((bar) => [bar.getAttribute("class"), bar instanceof SVGElement])'
    expect(await page.evaluate(bars)).toContainEqual(['bar CANCELLED', true])

    // The answer is held back, so that further clicks come while it is awaited.
    const released = Promise.withResolvers<void>()
    let sent = 0
    await page.route('**/v1/runs/doomed/1/redrive', async (route) => {
      sent++
      await released.promise
      await route.continue()
    })
    await page.goto(`${site.url}/jobs/doomed/runs/1`)
    await page.locator('.heading .status', { hasText: 'dead' }).waitFor()
    const redrive = page.getByRole('button', { name: 'Redrive run doomed/1' })
    await redrive.evaluate((button: { click(): void }) => {
      for (let press = 0; press < 3; press++) button.click()
    })
    await page.locator('button[aria-busy="true"]').waitFor()
    await redrive.click({ force: true })
    await expectAccessible(page, 'run-busy')
    released.resolve()
    await page.locator('.notice', { hasText: 'redriven as doomed/2' }).waitFor()
    await redrive.waitFor({ state: 'detached' })
    expect(sent).toBe(1)
    expect(await site.get('/v1/jobs/doomed')).toMatchObject({ runNo: 2 })
  })
})
