/** Steps of the tests in the views of pools, limits and workers. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible, said, stepMs, view } from './browser.ts'
import type { DashboardSite } from './site.ts'

/** A pool is paused, its runs wait, and a limit is full; then it is resumed. A viewer has no buttons, which the matrix of roles tests. */
export async function pausesPools(page: Page, { put, get }: DashboardSite): Promise<void> {
  await view(page, 'Pools and limits').click()
  const pool = page.getByRole('region', { name: 'Table of pools' }).getByRole('row').filter({ hasText: 'default' })
  await pool.getByRole('button', { name: 'Pause the pool default' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause pool' }).click()
  await said(page, 'The pool default is paused.')
  await pool.getByText('paused', { exact: true }).waitFor()
  await put('{pools}held', { schedule: { delayMs: 0 }, target: { handler: 'noop' } })
  await expect.poll(() => get<object>('/v1/jobs/%7Bpools%7Dheld/runs')).toMatchObject({ runs: [{ waitsFor: 'POOL_PAUSED' }] })
  await pool.getByText('1 until it is resumed').waitFor()
  await pool.locator('summary').press('Enter')
  await pool.getByText('kafka.produce', { exact: true }).waitFor()
  await expectAccessible(page, 'pools')
  await view(page, 'Now').click()
  const trouble = page.locator('.troubles li', { hasText: 'The pool default is paused, and 1 run waits.' })
  await trouble.getByRole('link', { name: 'View' }).click()
  await pool.getByRole('button', { name: 'Resume the pool default' }).click()
  await pool.getByText('active').waitFor()
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
  const trouble = (text: string) => page.locator('.troubles li', { hasText: text }).getByRole('link', { name: 'View' })
  // A look has ended. Those after it seem to come 10 s later. The steady clock stays: a look on the way would seem to have taken 10 s.
  // It may be in the middle of joining when it is drained, and the page asks each 10 s.
  await trouble('The pool default has no workers, and 1 run waits.').waitFor({ timeout: 2 * stepMs })
  await page.evaluate(`{
    const now = Date.now.bind(Date)
    Date.now = () => now() + 10_000
  }`)
  await trouble('The limit crm is overloaded: 2 runs wait.').click()
  await page.getByRole('heading', { name: 'Pools and limits' }).waitFor()
  await page.getByRole('row').filter({ hasText: 'default' }).getByText('no workers').waitFor()
  await view(page, 'Workers').click()
  await page.getByRole('button', { name: /^Resume the worker/ }).click()
  await page.getByRole('button', { name: /^Drain the worker/ }).waitFor()
  await expect
    .poll(() => get<object>('/v1/jobs/unserved/runs'), { timeout: stepMs })
    .toMatchObject({
      runs: [{ status: 'SUCCEEDED' }],
    })
}
