import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectAccessible, openBrowser, openPage, stepMs } from './browser.ts'
import { buildDashboard, openDashboardSite } from './site.ts'

const caseMs = 600_000

let browser: Browser
beforeAll(async () => {
  await buildDashboard()
  browser = await openBrowser()
})
afterAll(() => browser?.close())

const said = (page: Page, text: string) => page.locator('.notice').filter({ hasText: text }).waitFor()

describe('changes of many', () => {
  it('pause, resume and delete jobs that are selected or match a filter, after a question with their number', {
    timeout: caseMs,
  }, async (context) => {
    const site = await openDashboardSite(context)
    await site.start()
    const later = { schedule: { at: '2031-01-31T08:00:00Z' }, target: { handler: 'noop' } }
    for (const id of ['eu-1', 'eu-2', 'eu-3']) await site.put(id, { ...later, tags: ['eu'] })
    await site.put('us-1', later)
    const statuses = async () =>
      (await site.get<{ jobs: { id: string; status: string }[] }>('/v1/jobs')).jobs.map(({ id, status }) => `${id} ${status}`)
    const page = await openPage(context, browser, `${site.url}/jobs?tag=eu`)
    await page.getByRole('checkbox', { name: 'All that match the filter' }).check()
    await page.getByRole('button', { name: 'Pause all matching' }).click()
    // Its answers wait, as for many jobs.
    const held = Promise.withResolvers<void>()
    await page.route(/\/v1\/operations\/[^/]+$/, (route) => held.promise.then(() => route.continue()))
    await page.locator('dialog button.main', { hasText: 'Pause 3 jobs' }).click()
    await expect.poll(() => page.locator('tr .status', { hasText: 'pausing' }).count(), { timeout: stepMs }).toBe(3)
    held.resolve()
    await said(page, '3 jobs paused.')
    await expect.poll(() => page.locator('tr .status', { hasText: 'paused' }).count(), { timeout: stepMs }).toBe(3)
    await page.unrouteAll()
    expect(await statuses()).toEqual(['eu-1 PAUSED', 'eu-2 PAUSED', 'eu-3 PAUSED', 'us-1 ACTIVE'])
    await page.getByRole('checkbox', { name: 'All that match the filter' }).uncheck()
    await page.getByRole('checkbox', { name: 'Select eu-2' }).check()
    await page.getByRole('button', { name: 'Resume selected (1)' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume 1 job' }).click()
    await said(page, '1 job resumed.')
    await expectAccessible(page, 'jobs-bulk')
    await page.getByRole('checkbox', { name: /^Select all 3/ }).check()
    await page.getByRole('button', { name: 'Delete selected (3)' }).click()
    await page.locator('dialog button.danger', { hasText: 'Delete 3 jobs' }).click()
    await said(page, '3 jobs deleted.')
    await expect.poll(statuses, { timeout: stepMs }).toEqual(['us-1 ACTIVE'])
  })

  it('group dead letters by error, newest first, discard a group, and keep rows in place under the pointer', {
    timeout: caseMs,
  }, async (context) => {
    const site = await openDashboardSite(context)
    await site.start()
    const once = { schedule: { delayMs: 50 }, retry: { maxAttempts: 1 } }
    for (const id of ['f-1', 'f-2']) await site.put(id, { ...once, target: { handler: 'fail' }, payload: { times: 1 } })
    await site.put('late', { ...once, target: { handler: 'sleep' }, payload: { ms: 60_000 }, attemptTimeoutMs: 1_000 })
    const page = await openPage(context, browser, `${site.url}/dead-letters`)
    await page.getByRole('button', { name: 'Redrive run late/1' }).waitFor()
    const groups = page.locator('.groups li')
    expect(await groups.count()).toBe(2)
    expect(await groups.first().textContent()).toMatch(/^2Error/)
    const letters = () => page.locator('.letters li .letter-head').allTextContents()
    expect((await letters())[0]).toContain('late')
    await expectAccessible(page, 'dead-letters-grouped')

    // A new dead letter waits while the pointer is over the list.
    await page.locator('.letters li').first().hover()
    await site.put('newest', { ...once, target: { handler: 'fail' }, payload: { times: 1 } })
    await page.getByText('Redrive all (4)').waitFor()
    expect((await letters())[0]).toContain('late')
    await page.getByRole('heading', { name: 'Dead letters' }).hover()
    await page.getByRole('button', { name: 'Redrive run newest/1' }).waitFor()
    expect((await letters())[0]).toContain('newest')

    // The newest of them, or those between two clicks.
    await page.getByRole('spinbutton', { name: 'Newest' }).fill('2')
    await page.getByRole('button', { name: 'Redrive newest (2)' }).waitFor()
    await page.getByRole('spinbutton', { name: 'Newest' }).fill('')
    await page.getByRole('checkbox', { name: 'Select run newest/1' }).click()
    await page
      .locator('.letters li')
      .nth(2)
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] })
    await page.getByRole('button', { name: 'Discard selected (3)' }).waitFor()

    await groups.first().getByRole('link', { name: 'Error' }).click()
    await page.getByRole('button', { name: 'Discard all matching (3)' }).click()
    await page.locator('dialog button.danger', { hasText: 'Discard 3 dead runs' }).click()
    await said(page, '3 dead runs discarded.')
    await page.getByRole('link', { name: 'All errors' }).click()
    await expect.poll(async () => (await letters()).length, { timeout: stepMs }).toBe(1)
    expect(await site.get('/v1/jobs/f-1')).toMatchObject({ deadRuns: [] })
  })
})
