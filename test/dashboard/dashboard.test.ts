import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyFirst } from '../tools/copied-record.ts'
import { expectAccessible, expectFocusOn, openBrowser, openPage, stepMs, view } from './browser.ts'
import { edit, endsDrafts, watched } from './editor-steps.ts'
import { calendarJobs, shownJobs } from './shown-jobs.ts'
import { buildDashboard, type DashboardSite, openDashboardSite } from './site.ts'

const caseMs = 240_000

let browser: Browser
beforeAll(async () => {
  await buildDashboard()
  browser = await openBrowser()
})
afterAll(() => browser?.close())

const said = (page: Page, text: string | RegExp) => page.locator('.notice').filter({ hasText: text }).waitFor()
const succeeded = async ({ get }: DashboardSite, id: string) => (await get<{ succeeded: number }>(`/v1/jobs/${id}`)).succeeded
const fact = (page: Page, name: string) => page.locator('.facts > div', { hasText: name }).locator('dd')

describe('the dashboard', () => {
  it('shows workers and what is due ahead', { timeout: caseMs }, async (context) => {
    const site = await openDashboardSite(context)
    const { pid } = await site.start()
    for (const [id, definition] of Object.entries(calendarJobs)) await site.put(id, definition)
    const page = await openPage(context, browser, site.url)
    await view(page, 'Workers').click()
    const row = page.getByRole('row').filter({ hasText: `:${pid}` })
    await row.getByText('default').waitFor()
    await expectAccessible(page, 'workers')

    await pausesPools(page, site)
    await view(page, 'Calendar').click()
    await page.getByRole('group', { name: /occurrences in 720 steps/ }).waitFor()
    await opensCells(page)
    await expectAccessible(page, 'calendar')
    await page.getByRole('link', { name: '7 days by hour' }).click()
    await page.getByRole('group', { name: /occurrences in 168 steps/ }).waitFor()
    await expectAccessible(page, 'calendar-days')
    await page.reload()
    await page.getByRole('group', { name: /occurrences in 168 steps/ }).waitFor()
    await page.goBack()
    await page.getByRole('group', { name: /occurrences in 720 steps/ }).waitFor()
    await view(page, 'Settings').click()
    await page.getByRole('rowheader', { name: 'DUELOG_TOPIC_PREFIX' }).waitFor()
    await expectAccessible(page, 'settings')
    await page.getByRole('group', { name: 'Theme' }).getByText('Dark').click()
    await page.reload()
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
  })

  it('watches a job fire, pauses it, lives through a kill, edits it and deletes it', { timeout: caseMs }, async (context) => {
    const site = await openDashboardSite(context)
    const process = await site.start()
    for (const [id, definition] of Object.entries(shownJobs)) await site.put(id, definition)
    const page = await openPage(context, browser, site.url)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.locator('.figures > div', { hasText: 'Start lateness p50' }).locator('dd', { hasText: /\d/ }).waitFor()
    await page.locator('.troubles').waitFor()

    await view(page, 'Jobs').click()
    await create(page)
    await page.getByRole('rowheader', { name: 'daily-report' }).waitFor()
    await expectAccessible(page, 'jobs')
    await expectFocusOn(page, 'Jobs')
    await page.locator('.skip').press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('content')
    await page.getByLabel('ID contains').fill('atche')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/jobs?idContains=atche')
    await page.getByRole('rowheader', { name: 'daily-report' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'watched', exact: true }).click()
    await page.getByRole('heading', { name: 'watched' }).waitFor()
    await expectFocusOn(page, 'watched')
    const before = Number(await fact(page, 'Succeeded').textContent())
    await expect
      .poll(async () => Number(await fact(page, 'Succeeded').textContent()), { timeout: stepMs })
      .toBeGreaterThan(before)
    await expectAccessible(page, 'job')
    // The charts have data by now.
    await view(page, 'Now').click()
    await expectFocusOn(page, 'Now')
    await expectAccessible(page, 'now')
    await page.goBack()

    await page.getByRole('button', { name: 'Pause watched' }).click()
    await page.getByRole('button', { name: 'Resume watched' }).waitFor()
    await process.kill()
    await page.getByText(/Reconnecting|Disconnected/).waitFor()
    await page.locator('.state.bad', { hasText: 'is not responding' }).waitFor()
    await expectAccessible(page, 'unreachable')
    await site.start()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'watched' }).waitFor()
    const paused = await succeeded(site, 'watched')
    await page.getByRole('button', { name: 'Resume watched' }).click()
    await expect.poll(() => succeeded(site, 'watched'), { timeout: stepMs }).toBeGreaterThan(paused)

    await edit(page, site)
    await page.getByRole('heading', { name: 'Next fires' }).waitFor()
    expect(await site.get('/v1/jobs/watched')).toMatchObject({
      definition: { schedule: { everyMs: 5_000 }, payload: { to: 'b@example.org' }, tags: ['shown', 'theirs'] },
    })
    expect(await page.evaluate('sessionStorage.getItem("duelog.drafts")')).toBeNull()

    await page.getByRole('button', { name: 'Delete watched' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('cannot be undone').waitFor()
    await expectAccessible(page, 'confirm')
    // The focus stays in the dialog, and then returns to where it was.
    for (let press = 0; press < 6; press++) await page.keyboard.press('Tab')
    expect(
      await page.evaluate('document.activeElement.closest("dialog") !== null || document.activeElement === document.body'),
    ).toBe(true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Delete watched')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Delete job' }).click()
    await page.waitForURL('**/jobs')
    await page.getByRole('rowheader', { name: 'daily-report' }).waitFor()
    expect(await page.getByRole('rowheader', { name: 'watched', exact: true }).count()).toBe(0)
    await expect(site.get('/v1/jobs/watched')).rejects.toThrow('404')
  })

  it('shows the proof, a planted fault, and that no auditor is running', { timeout: caseMs }, async (context) => {
    const site = await openDashboardSite(context, { DUELOG_AUDIT_GRACE_MS: '1000' })
    const audited = await site.start()
    await site.put('audited', { schedule: { everyMs: 500 }, target: { handler: 'noop' } })
    const page = await openPage(context, browser, site.url)
    await view(page, 'Proof').click()
    await page.getByText('According to the log, each due occurrence ran exactly once').waitFor()
    await page
      .locator('.figures > div', { hasText: 'Runs judged' })
      .locator('dd', { hasText: /^[1-9]/ })
      .waitFor()
    await expectFocusOn(page, 'Proof')
    await expectAccessible(page, 'proof')
    await copyFirst(`page-${new URL(site.url).port}.executions.default.normal`)
    await page.getByText('1 fault found').waitFor()
    await page.getByRole('row').filter({ hasText: 'audited/1' }).getByText('Duplicate').waitFor()
    await expectAccessible(page, 'proof-fault')
    await view(page, 'Now').click()
    const trouble = page.locator('.troubles li').filter({ hasText: 'The audit found 1 fault' })
    await trouble.getByRole('link', { name: 'View' }).click()
    await page.getByRole('heading', { name: 'Proof' }).waitFor()
    await audited.kill()
    await page.locator('.state.bad', { hasText: 'is not responding' }).waitFor()
    await site.start({ DUELOG_ROLES: 'scheduler,executor,retrier,api' })
    await page.getByText('Live', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('No auditor is running').waitFor()
    await expectAccessible(page, 'proof-none')
  })

  it('shows and cancels active runs, and redrives dead letters', { timeout: caseMs }, async (context) => {
    const site = await openDashboardSite(context)
    const process = await site.start()
    await site.put('endless', { schedule: { delayMs: 100 }, target: { handler: 'stuck' } })
    const once = { target: { handler: 'fail' }, payload: { times: 1 }, retry: { maxAttempts: 1 } }
    for (const id of ['doomed-1', 'doomed-2', 'doomed-3']) await site.put(id, { schedule: { delayMs: 100 }, ...once })
    const page = await openPage(context, browser, site.url)

    await view(page, 'Runs').click()
    await page.getByRole('progressbar', { name: 'Progress of run endless/1' }).waitFor()
    await page.getByText('still there').waitFor()
    await expectAccessible(page, 'runs')
    await view(page, 'Workers').click()
    await page.getByRole('link', { name: 'Run endless/1' }).click()
    await page.waitForURL('**/jobs/endless/runs/1')
    await view(page, 'Runs').click()
    await page.getByLabel('Status').selectOption('RETRY_WAIT')
    await page.getByText('No matching active runs').waitFor()
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'Cancel run endless/1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click()
    await page.getByText('No active runs').waitFor()
    await cancelsSelected(page, site)

    // The definition changes; the payload of the dead run does not.
    await site.put('doomed-1', { schedule: { at: '2031-01-31T08:00:00Z' }, ...once, payload: { times: 7 } })
    await view(page, 'Dead letters').click()
    for (const id of ['doomed-1', 'doomed-2', 'doomed-3'])
      await page.getByRole('button', { name: `Redrive run ${id}/1` }).waitFor()
    const letter = page.getByRole('listitem').filter({ hasText: 'doomed-1' })
    await letter.getByText('Errors and payload').click()
    await letter.getByText('"times": 1').waitFor()
    await expectAccessible(page, 'dead-letters')
    await view(page, 'Now').click()
    const standing = page.getByText('3 dead letters of 3 jobs wait for a decision.')
    await standing.waitFor()
    await page.goto(`${site.url}/jobs?idPrefix=doomed-1`)
    await page.getByRole('link', { name: '1 dead' }).click()
    await page.waitForURL('**/jobs/doomed-1#dead')
    await page.locator('#dead:focus').waitFor()
    await view(page, 'Now').click()
    await process.kill()
    await page.getByText(/Reconnecting|Disconnected/).waitFor()
    await page.getByRole('alert').filter({ hasText: 'Duelog is not responding' }).waitFor()
    expect(await page.getByText('fire on time').count()).toBe(0)
    await expectAccessible(page, 'now-unreachable')
    await site.start()
    await page.getByText('Live', { exact: true }).waitFor()
    // A new page and a new owner: what stands does not depend on either.
    await page.reload()
    await standing.waitFor()
    expect(await page.locator('.figures > div', { hasText: 'Dead letters' }).locator('dd').innerText()).toMatch(/^3\b/)
    // The charts have what the former process saw, a mark of the start of this one, and values by keyboard.
    const chart = page.getByRole('slider', { name: 'Dead letters' })
    await page.locator('[role=slider][aria-label="Dead letters"]:not([aria-valuemax="0"])').waitFor({ timeout: 2 * stepMs })
    await page.locator('.marks summary', { hasText: '2 starts, takeovers and deploys' }).waitFor()
    await chart.press('End')
    const reading = () => chart.getAttribute('aria-valuetext')
    await expect.poll(reading, { timeout: stepMs }).toMatch(/^\d+ \w+ .*, standing [\d—]/)
    await chart.press('Home')
    await expect.poll(() => chart.getAttribute('aria-valuenow'), { timeout: stepMs }).toBe('0')
    await chart.press('ArrowRight')
    await expect.poll(() => chart.getAttribute('aria-valuenow'), { timeout: stepMs }).toBe('1')
    await page.getByRole('slider', { name: 'Start lateness' }).hover()
    await page.locator('.chart', { hasText: 'Start lateness' }).locator('.mark-text time').waitFor()
    await expectAccessible(page, 'now-charts')
    await page.getByRole('link', { name: '24 h' }).click()
    await page.waitForURL('**/?range=day')
    await view(page, 'Dead letters').click()
    await page.getByRole('button', { name: 'Redrive run doomed-1/1' }).click()
    await page.getByRole('button', { name: 'Redrive run doomed-1/2' }).waitFor()
    await page.getByRole('checkbox', { name: 'Select run doomed-2/1' }).check()
    await page.getByRole('button', { name: 'Redrive selected (1)' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive 1 dead run' }).click()
    await said(page, '1 dead run redriven.')
    // The handler fails once more, so that the new runs replace the old ones as dead letters.
    await page.getByRole('button', { name: 'Redrive run doomed-2/2' }).waitFor()
    await page.getByRole('button', { name: 'Redrive all (3)' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive 3 dead runs' }).click()
    await said(page, '3 dead runs redriven.')
    await page.getByRole('button', { name: 'Redrive run doomed-3/2' }).waitFor()
    expect(await site.get('/v1/jobs/doomed-3')).toMatchObject({ runNo: 2 })
  })

  it('shows how to begin when there are no jobs, and handles every address', { timeout: caseMs }, async (context) => {
    const site = await openDashboardSite(context)
    await site.start()
    const page = await openPage(context, browser, site.url)
    await view(page, 'Jobs').click()
    await page.getByText('No jobs yet').waitFor()
    await expectAccessible(page, 'jobs-none')
    const id = 'a/b %2F ü?#'
    await site.put(encodeURIComponent(id), { schedule: { at: '2031-01-31T08:00:00Z' }, target: { handler: 'noop' } })
    await page.getByRole('link', { name: id, exact: true }).click()
    await page.getByRole('heading', { name: id }).waitFor()
    expect(page.url()).toBe(`${site.url}/jobs/${encodeURIComponent(id)}`)
    await page.reload()
    await page.getByRole('heading', { name: 'Next fires' }).waitFor()
    await showsProgress(page)
    const missing = await page.goto(`${site.url}/nowhere/at-all`)
    expect(missing?.status()).toBe(404)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await expectAccessible(page, 'not-found')
    expect((await page.goto(`${site.url}/jobs/%E0%A4%A`))?.status()).toBe(404)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.goto(`${site.url}/jobs/`)
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor()
    await usesPalette(page, id)
    await restoresScroll(page, site)
    const api = await fetch(`${site.url}/v1/nowhere`, { headers: { accept: 'text/html' } })
    expect(await api.json()).toMatchObject({ status: 404, code: 'not-found' })
  })

  it('asks for a token where the system requires one, and offers a viewer nothing that the server would refuse', {
    timeout: caseMs,
  }, async (context) => {
    const tokens = { viewer: 'looks-on-0123456789abcdef', admin: 'does-all-0123456789abcdef' }
    const site = await openDashboardSite(context, { DUELOG_API_TOKENS: `viewer:${tokens.viewer},admin:${tokens.admin}` })
    await site.start()
    await site.put('guarded', { schedule: { everyMs: 60_000 }, target: { handler: 'noop' } })
    const page = await openPage(context, browser, site.url)
    await page.getByLabel('Token').waitFor()
    expect(await page.evaluate('document.activeElement.name')).toBe('token')
    await page.getByLabel('Token').fill('wrong-0123456789abcdef')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This token is not valid').waitFor()
    await expectAccessible(page, 'sign-in')
    await page.getByLabel('Token').fill(tokens.viewer)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Signed in as viewer').waitFor()
    // A second tab has the session of the first, and a sign-out ends both.
    const second = await page.context().newPage()
    context.onTestFinished(() => second.close())
    await second.goto(`${site.url}/jobs?new`)
    await second.getByText('Signed in as viewer').waitFor()
    await second.getByRole('heading', { name: 'Jobs', exact: true }).waitFor()
    await second.getByText('Your role may read jobs and not create them.').waitFor()
    expect(await second.getByRole('heading', { name: 'New job' }).count()).toBe(0)
    await asksNothingOfAdmins(page, site)
    await page.goto(`${site.url}/jobs/guarded`)
    await page.getByRole('heading', { name: 'guarded' }).waitFor()
    await page.getByRole('heading', { name: 'Next fires' }).waitFor()
    expect(await page.getByRole('button', { name: 'Delete guarded' }).count()).toBe(0)
    const headers = { authorization: `Bearer ${tokens.viewer}` }
    expect((await fetch(`${site.url}/v1/jobs/guarded`, { method: 'DELETE', headers })).status).toBe(403)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await second.getByLabel('Token').waitFor()
    expect(await second.getByRole('alert').innerText()).toBe('')
    await page.getByLabel('Token').fill(tokens.admin)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Delete guarded' }).waitFor()
    // A token that is not valid any more: the page says so, and goes on where it was.
    await page.route('**/v1/**', (route) => route.fulfill({ status: 401, json: { status: 401, code: 'unauthorized' } }))
    await page.getByText('Your session has ended').waitFor()
    await page.unrouteAll()
    await page.getByLabel('Token').fill(tokens.admin)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Delete guarded' }).waitFor()
    await endsDrafts(page)
  })
})

/** The address of a view for admins says so, and the page sends no request that would be refused. */
async function asksNothingOfAdmins(page: Page, { url }: DashboardSite): Promise<void> {
  const refused: string[] = []
  page.on('response', (response) => void (response.status() === 403 && refused.push(response.url())))
  const [events] = await Promise.all([page.waitForResponse('**/v1/events'), page.goto(`${url}/audit`)])
  expect(events.status()).toBe(200)
  await page.getByText('The audit trail is for the role admin.').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  expect(refused).toEqual([])
}

/** By keyboard alone. */
async function usesPalette(page: Page, id: string): Promise<void> {
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: 'View, job ID or action' })
  await field.waitFor()
  await expectAccessible(page, 'palette')
  await page.keyboard.type('calen')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/calendar')
  await page.getByRole('heading', { name: 'Calendar' }).waitFor()
  await page.keyboard.press('/')
  await field.fill(id)
  await page.getByRole('option', { name: 'Job with this ID' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: id }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('heading', { name: 'About this view' }).waitFor()
  await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
  expect(await page.getByRole('dialog').getByRole('link', { name: 'API' }).getAttribute('href')).toMatch(/^\/docs#\/\w/)
  await expectAccessible(page, 'keys')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** Back leads to where the list was scrolled. */
async function restoresScroll(page: Page, { put, url }: DashboardSite): Promise<void> {
  for (let index = 0; index < 40; index++)
    await put(`row-${index}`, { schedule: { at: '2031-01-31T08:00:00Z' }, target: { handler: 'noop' } })
  // All that match are those of the address, also by the beginning of their IDs.
  await page.goto(`${url}/jobs?idPrefix=row-1`)
  await page.getByRole('checkbox', { name: 'All that match the filter' }).check()
  await page.getByRole('button', { name: 'Pause all matching' }).click()
  await page.getByRole('heading', { name: 'Pause 11 jobs?' }).waitFor()
  await page.keyboard.press('Escape')
  await view(page, 'Jobs').click()
  const link = page.getByRole('link', { name: 'row-9', exact: true })
  await link.scrollIntoViewIfNeeded()
  const at = await page.evaluate('scrollY')
  expect(at).toBeGreaterThan(100)
  await link.click()
  await page.getByRole('heading', { name: 'row-9' }).waitFor()
  await page.goBack()
  await expect.poll(() => page.evaluate('scrollY'), { timeout: stepMs }).toBe(at)
}

/** A search through many jobs shows its progress. The answers of the API are faked: a million jobs belong in the bench. */
async function showsProgress(page: Page): Promise<void> {
  const released = Promise.withResolvers<void>()
  await page.route(/\/v1\/jobs\?.*handler=far/, async (route) => {
    const goesOn = route.request().url().includes('cursor=')
    if (goesOn) await released.promise
    await route.fulfill({ json: { jobs: [], searched: goesOn ? 600_000 : 400_000, cursor: goesOn ? null : 'next' } })
  })
  await view(page, 'Jobs').click()
  await page.getByLabel('Handler').fill('far')
  await page.keyboard.press('Enter')
  await page.getByText('400,000 jobs searched, 0 found').waitFor()
  await expectAccessible(page, 'jobs-searching')
  released.resolve()
  await page.getByText('No matching jobs').waitFor()
}

/** Creates a job that fires each second, after an ID that is taken was refused. */
async function create(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'New job' }).click()
  await expectFocusOn(page, 'New job')
  await page.getByRole('textbox', { name: 'Definition as JSON' }).fill(JSON.stringify(watched, null, 2))
  await page.getByLabel('ID', { exact: true }).fill('daily-report')
  await page.getByRole('listitem').filter({ hasText: 'in 3' }).first().waitFor()
  await expectAccessible(page, 'new-job')
  await page.getByText('Job daily-report already exists').waitFor()
  expect(await page.getByRole('button', { name: 'Create job' }).isDisabled()).toBe(true)
  await page.getByLabel('ID', { exact: true }).fill('watched')
  await page.locator('button.main:enabled', { hasText: 'Create job' }).waitFor()
  await page.reload()
  expect(await page.getByLabel('ID', { exact: true }).inputValue()).toBe('watched')
  await page.getByRole('button', { name: 'Create job' }).click()
  await page.waitForURL('**/jobs/watched')
  await view(page, 'Jobs').click()
}

/** The list waits while the keyboard is in it; a run that has left it says so and is not selected. */
async function cancelsSelected(page: Page, { put, cancel }: DashboardSite): Promise<void> {
  for (const id of [1, 2, 3]) await put(`stuck-${id}`, { schedule: { delayMs: 50 }, target: { handler: 'stuck' } })
  const box = (id: number) => page.getByRole('checkbox', { name: `Select run stuck-${id}/1` })
  for (const id of [1, 2, 3]) await box(id).waitFor()
  await box(1).focus()
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Cancel selected (1)' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click()
  await box(1).focus()
  await page.keyboard.press('Tab')
  await cancel('stuck-1', 1)
  await page.locator('tr.gone', { hasText: 'no longer here' }).waitFor()
  await page.getByRole('button', { name: 'Cancel selected (0)' }).waitFor()
  await expectAccessible(page, 'runs-held')
  await page.getByRole('heading', { name: 'Runs' }).click()
  await box(1).waitFor({ state: 'detached' })
  await page.getByRole('checkbox', { name: 'Select run stuck-2/1' }).check()
  await page.getByRole('button', { name: 'Cancel selected (1)' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1 active run' }).click()
  await said(page, '1 active run cancelled.')
  await page.getByLabel('Handler').fill('stuck')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('checkbox', { name: 'All that match the filter' }).check()
  await page.getByRole('button', { name: 'Cancel all matching' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1 active run' }).click()
  await said(page, '1 active run cancelled.')
  await page.getByText('No matching active runs').waitFor()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.getByText('No active runs').waitFor()
}

/** By keyboard and by the list of the busiest; each shows the jobs of its time, with links. */
async function opensCells(page: Page): Promise<void> {
  await page.locator('.heat a[tabindex="0"]').focus()
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowLeft')
  const focused = await page.locator('.heat a:focus').getAttribute('data-at')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/calendar?at=${encodeURIComponent(new Date(Number(focused)).toISOString())}`)
  await page.locator('section[aria-labelledby=due]').waitFor()
  await page.locator('.busiest a').first().click()
  const table = page.getByRole('region', { name: 'Table of jobs that are due' })
  // A quarter at least: the jobs of each quarter and of each five minutes, and not those of 03:50.
  await table.getByRole('link', { name: 'group-1.0', exact: true }).waitFor()
  await table.getByRole('link', { name: 'group-2.0', exact: true }).waitFor()
  expect(await table.getByRole('link', { name: 'group-4.0', exact: true }).count()).toBe(0)
}

/** A pool is paused, its runs wait, and a limit is full; then it is resumed. A viewer has no buttons, which the matrix of roles tests. */
async function pausesPools(page: Page, { put, get }: DashboardSite): Promise<void> {
  await view(page, 'Pools and limits').click()
  const pool = page.getByRole('region', { name: 'Table of pools' }).getByRole('row').filter({ hasText: 'default' })
  await pool.getByRole('button', { name: 'Pause the pool default' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause pool' }).click()
  await said(page, 'The pool default is PAUSED.')
  await pool.getByText('PAUSED').waitFor()
  await put('{pools}held', { schedule: { delayMs: 0 }, target: { handler: 'noop' } })
  await expect.poll(() => get<object>('/v1/jobs/%7Bpools%7Dheld/runs')).toMatchObject({ runs: [{ waitsFor: 'POOL_PAUSED' }] })
  await expectAccessible(page, 'pools')
  await view(page, 'Now').click()
  const trouble = page.locator('.troubles li', { hasText: 'The pool default is paused, and 1 run waits.' })
  await trouble.getByRole('link', { name: 'View' }).click()
  await pool.getByRole('button', { name: 'Resume the pool default' }).click()
  await pool.getByText('ACTIVE').waitFor()
  await expect.poll(() => get<object>('/v1/jobs/%7Bpools%7Dheld/runs')).toMatchObject({ runs: [{ status: 'SUCCEEDED' }] })
  const limited = { schedule: { delayMs: 0 }, target: { handler: 'sleep' }, payload: { ms: 60_000 }, concurrencyKey: 'crm' }
  await put('{pools}1', limited)
  await put('{pools}2', limited)
  const limit = page.getByRole('region', { name: 'Table of limits' }).getByRole('row').filter({ hasText: 'crm' })
  await limit.getByText('full: 1 run waits').waitFor()
  await put('{pools}3', limited)
  await limit.getByText('full: 2 runs wait').waitFor()
  await namesTroubles(page, { put, get })
}

/** The worker leaves its pool while a run waits in it, and a limit has more waiting runs than slots. Now says both, and where to look. */
async function namesTroubles(page: Page, { put, get }: Pick<DashboardSite, 'put' | 'get'>): Promise<void> {
  await view(page, 'Workers').click()
  await page.getByRole('button', { name: /^Drain the worker/ }).click()
  await page.getByRole('button', { name: /^Resume the worker/ }).waitFor()
  await put('unserved', { schedule: { delayMs: 0 }, target: { handler: 'noop' } })
  await expect.poll(() => get<object>('/v1/jobs/unserved/runs')).toMatchObject({ runs: [{ status: 'DISPATCHED' }] })
  const asked = page.waitForResponse('**/v1/limits')
  await view(page, 'Now').click()
  await asked
  await page.locator('.figures div', { hasText: /^Backlog1/ }).waitFor()
  // The next look is 10 s after the first one: the page believes that they are over.
  await page.evaluate(`for (const clock of [Date, performance]) {
    const now = clock.now.bind(clock)
    clock.now = () => now() + 10_000
  }`)
  const trouble = (text: string) => page.locator('.troubles li', { hasText: text }).getByRole('link', { name: 'View' })
  await trouble('The pool default has no workers, and 1 run waits.').waitFor()
  await trouble('The limit crm is overloaded: 2 runs wait.').click()
  await page.getByRole('heading', { name: 'Pools and limits' }).waitFor()
  await page.getByRole('row').filter({ hasText: 'default' }).getByText('0: ').waitFor()
  await view(page, 'Workers').click()
  await page.getByRole('button', { name: /^Resume the worker/ }).click()
  await page.getByRole('button', { name: /^Drain the worker/ }).waitFor()
  await expect
    .poll(() => get<object>('/v1/jobs/unserved/runs'), { timeout: stepMs })
    .toMatchObject({
      runs: [{ status: 'SUCCEEDED' }],
    })
}
