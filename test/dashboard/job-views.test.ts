import type { Browser } from 'playwright-core'
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

const never = { schedule: { at: '2031-01-31T08:00:00Z' } }

describe('the views of jobs', () => {
  it('show what a run waits for, why an invalid job does not fire, and the actions of a row in a menu', {
    timeout: caseMs,
  }, async (context) => {
    const site = await openDashboardSite(context)
    await site.start()
    const limited = { target: { handler: 'stuck' }, concurrencyKey: 'crm{x}', concurrencyLimit: 1, tags: ['eu', 'a\u202eb'] }
    await site.put('first%7Bx%7D', { schedule: { everyMs: 86_400_000 }, ...limited })
    await site.put('second%7Bx%7D', { ...never, ...limited })
    await site.put('nowhere', { ...never, target: { handler: 'noop', pool: 'no-such-pool' } })
    const page = await openPage(context, browser, `${site.url}/jobs`)
    const row = (id: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name: id, exact: true }) })
    const invalid = row('nowhere')
    await invalid.getByText('Pool no-such-pool has no topics').waitFor()
    expect(await invalid.getByText('31 Jan 2031').count()).toBe(0)
    expect(await page.getByRole('button', { name: /^Delete (?!selected)/ }).count()).toBe(0)

    await page.getByRole('button', { name: 'Run now: first{x}' }).click()
    await row('first{x}').getByText('running').waitFor()
    await page.getByRole('button', { name: 'Run now: second{x}' }).click()
    await row('second{x}').getByText('for a slot of crm{x}').waitFor()
    await expectAccessible(page, 'jobs-waiting')
    await row('first{x}').getByRole('link', { name: 'a⟨202E⟩b' }).click()
    await page.waitForURL('**/jobs?tag=a%E2%80%AEb')
    await page.getByRole('button', { name: 'Save filter' }).press('Enter')
    await page.locator('#filter-name:focus').press('Escape')
    await page.locator('button:focus', { hasText: 'Save filter' }).press('Enter')
    await page.keyboard.type('turned')
    await page.keyboard.press('Enter')
    await row('nowhere').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await row('nowhere').waitFor()
    await page.getByRole('link', { name: 'turned' }).click()
    await row('nowhere').waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'More actions: first{x}' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Edit first{x}' }).waitFor()
    await expectAccessible(page, 'job-menu')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel job first{x}' }).click()
    await page.getByRole('dialog').getByText('does not fire again').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel job' }).click()
    await row('first{x}').getByRole('cell').nth(1).getByText('cancelled', { exact: true }).waitFor()
    // The slot is free, so that the other one runs.
    await row('second{x}').getByText('running').waitFor()
    await page.goto(`${site.url}/jobs/second%7Bx%7D/runs/1`)
    await page.locator('.heading .status', { hasText: 'running' }).waitFor()
    // The wait for the slot is no lateness.
    const late = await page.locator('.facts > div', { hasText: 'Started late by' }).locator('dd').textContent()
    expect(late).toMatch(/ ms$|^[1-9](\.\d)? s$/)
  })

  it('merge equal reasons, name the error, and backfill a past range', { timeout: caseMs }, async (context) => {
    const site = await openDashboardSite(context)
    await site.start()
    const failing = { target: { handler: 'fail' }, payload: { times: 9 }, retry: { maxAttempts: 1 } }
    await site.put('hourly', { schedule: { cron: '0 * * * *', timezone: 'UTC' }, ...failing })
    const page = await openPage(context, browser, `${site.url}/jobs/hourly`)
    await page.getByRole('button', { name: 'Backfill hourly' }).click()
    const dialog = page.getByRole('dialog')
    const local = (hoursAgo: number): string => {
      const at = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - hoursAgo * 3_600_000)
      const shown = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin', dateStyle: 'short', timeStyle: 'medium' }).format(
        at,
      )
      return shown.replace(' ', 'T')
    }
    await dialog.getByLabel('From').fill(local(3))
    await dialog.getByLabel('To (exclusive)').fill(local(0))
    await dialog.getByText(/^3 runs: from .*, UTC\.$/).waitFor()
    await expectAccessible(page, 'backfill')
    await dialog.getByRole('button', { name: 'Start backfill' }).click()
    await page.locator('.notice', { hasText: 'Backfill of hourly started' }).waitFor()
    const reasons = page.locator('.reasons > li').filter({ hasText: 'became a dead letter' })
    await reasons.getByText('3 times').waitFor()
    expect(await reasons.count()).toBe(1)
    await reasons.getByText('Its last error: Error').waitFor()
    expect(await reasons.textContent()).not.toMatch(/\dT\d\d:.*Z/)
    await expect
      .poll(() => page.getByRole('region', { name: 'Table of runs' }).getByRole('rowheader').allTextContents(), {
        timeout: stepMs,
      })
      .toEqual(['3backfill', '2backfill', '1backfill'])
    await page.locator('#dead').getByRole('link', { name: 'Run hourly/3' }).click()
    await page.getByRole('heading', { name: 'run 3' }).waitFor()
    await expectLog(page)
  })

  it('search the history, keep its filter in the address, and show who did what', { timeout: caseMs }, async (context) => {
    const tokens = 'viewer:looks-on-0123456789abcdef,operator:changes-it-0123456789abcdef,admin:does-all-0123456789abcdef'
    const site = await openDashboardSite(context, { DUELOG_API_TOKENS: tokens })
    await site.start()
    const once = { schedule: { delayMs: 100 }, retry: { maxAttempts: 1 } }
    await site.put('good', { ...once, target: { handler: 'noop' }, tags: ['eu'] })
    await site.put('bad', { ...once, target: { handler: 'fail' }, payload: { times: 1 } })
    const page = await openPage(context, browser, site.url)
    await page.getByLabel('Token').fill('changes-it-0123456789abcdef')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Signed in as operator').waitFor()
    await expect.poll(async () => (await site.get<{ runs: object[] }>('/v1/history')).runs.length, { timeout: stepMs }).toBe(2)
    // What was only asked for once is asked for again when no answer came.
    await page.route('**/v1/history?*', (route) => route.abort(), { times: 1 })
    await page.goto(`${site.url}/history?outcome=DEAD`)
    await page.getByRole('alert').waitFor()
    await page.getByRole('link', { name: 'Run bad/1' }).waitFor()
    expect(await page.getByRole('link', { name: 'Run good/1' }).count()).toBe(0)
    await page.getByRole('img', { name: 'Ended runs over time: 1 dead' }).waitFor()
    await page.getByRole('row').filter({ hasText: 'no attempts left' }).waitFor()
    await expectAccessible(page, 'history')
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByRole('link', { name: 'Run good/1' }).waitFor()
    await page.getByRole('link', { name: 'most attempts first' }).click()
    await page.waitForURL('**/history?order=attempts')
    await site.put('good', { ...once, target: { handler: 'noop' } })
    await expect.poll(async () => (await site.get<{ runs: object[] }>('/v1/history')).runs.length, { timeout: stepMs }).toBe(3)
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByRole('link', { name: 'Run good/2' }).waitFor()
    // A day of the viewer's zone, beside the other filters.
    await page.goto(`${site.url}/history?pool=other&idPrefix=go`)
    await page.getByRole('link', { name: 'yesterday' }).click()
    await page.waitForURL('**/history?pool=other&idPrefix=go&from=*&to=*')
    const times = new URL(page.url()).searchParams
    const [from, to] = [Date.parse(times.get('from') ?? ''), Date.parse(times.get('to') ?? '')]
    expect([23, 24, 25]).toContain((to - from) / 3_600_000)
    expect(new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Berlin', timeStyle: 'medium' }).format(to)).toBe('00:00:00')
    await page.getByText('No matching runs').waitFor()
    // A history that cannot be written says why the newest runs are missing.
    await page.route('**/v1/history?*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), problem: 'The disk is full.' } })
    })
    await page.goto(`${site.url}/history?pool=default&idPrefix=go&from=2020-01-01T00:00:00Z`)
    await page.getByRole('alert').getByText('The disk is full.').waitFor()
    await page.getByRole('link', { name: 'Run good/1' }).waitFor()
    // Years are counted by days.
    await page.getByRole('img', { name: 'Ended runs over time: 2 succeeded' }).waitFor()
    await page.unrouteAll()
    await page.getByRole('link', { name: 'Handlers', exact: true }).click()
    await page.getByRole('row').filter({ hasText: 'fail' }).getByText('100%').waitFor()
    await page.getByRole('link', { name: 'most failures first' }).click()
    await expect.poll(() => page.getByRole('rowheader').allTextContents(), { timeout: stepMs }).toEqual(['fail', 'noop'])
    await expectAccessible(page, 'handlers')
    await page.getByRole('row').filter({ hasText: 'fail' }).getByRole('link', { name: '1', exact: true }).click()
    await page.getByRole('link', { name: 'Run bad/1' }).waitFor()
    await page.getByRole('link', { name: 'Audit', exact: true }).click()
    await page.getByRole('row').filter({ hasText: 'PUT' }).filter({ hasText: 'good' }).first().waitFor()
    await page.getByRole('link', { name: /verdict|faults found/ }).waitFor()
    const fields = page.getByRole('row').filter({ hasText: 'good' }).first().locator('details')
    await fields.locator('summary').click()
    await expectAccessible(page, 'audit')
    await page.goto(`${site.url}/jobs/good`)
    const last = page.locator('.facts > div', { hasText: 'Changed last' })
    await last.getByText('PUT').waitFor()
    await last.getByRole('link', { name: 'All changes' }).click()
    await page.waitForURL('**/audit?jobId=good')
    await page.getByRole('row').filter({ hasText: 'good' }).first().waitFor()
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByLabel('Action').selectOption('PAUSE')
    await page.getByText('No matching changes').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').fill('looks-on-0123456789abcdef')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The audit trail is for the roles operator and admin').waitFor()
    expect(await page.getByRole('link', { name: 'Audit', exact: true }).count()).toBe(0)
    await page.goto(`${site.url}/jobs/good?edit`)
    await page.getByText('may read this job and not change it').waitFor()
    expect(await page.getByRole('textbox', { name: 'Definition as JSON' }).count()).toBe(0)
    await page.getByRole('region', { name: 'Definition, read-only' }).getByText('"delayMs": 100').waitFor()
  })
})

/** The answer is faked: lines that reorder text, and more than one request. */
async function expectLog(page: Awaited<ReturnType<typeof openPage>>): Promise<void> {
  const line = { attempt: 1, worker: 'w', shortened: false, at: '2026-11-25T00:00:00.125Z' }
  await page.route(/\/runs\/2\/logs/, (route) => {
    const goesOn = route.request().url().includes('cursor=')
    const lines = goesOn
      ? [{ ...line, no: 2, level: 'error', text: 'no\u202ereply', fields: { code: 7 } }]
      : [{ ...line, no: 1, level: 'info', text: 'begins', fields: null }]
    return route.fulfill({ json: { lines, cursor: goesOn ? null : 'next', caughtUp: goesOn, unreadable: 0 } })
  })
  await page.getByText('The handler wrote no lines').waitFor()
  await page.getByRole('link', { name: 'Previous run, 2' }).click()
  const log = page.getByRole('list', { name: 'Log of run hourly/2' })
  await log.getByText('no⟨202E⟩reply').waitFor()
  expect(await log.getByRole('listitem').count()).toBe(2)
  expect(await log.getByRole('listitem').nth(1).textContent()).toMatch(/reply \{"code":7\}$/)
  await expectAccessible(page, 'run-log')
  await page.getByLabel('Least level').selectOption('warn')
  await log.getByText('begins').waitFor({ state: 'detached' })
}
