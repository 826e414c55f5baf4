/** Steps of the test of the dashboard in its calendar. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** A filter hides the jobs that recur often, and stays when the steps change. */
export async function filtersCalendar(page: Page): Promise<void> {
  await page.getByLabel('Tag').fill('group-4')
  await page.getByLabel('Tag').press('Enter')
  await page.getByLabel('At most once a').selectOption('DAY')
  await page.waitForURL('**/calendar?tag=group-4&once=DAY')
  await page.getByRole('link', { name: '7 days by hour' }).click()
  await page.locator('.busiest a').first().click()
  const table = page.getByRole('region', { name: 'Table of jobs that are due' })
  await table.getByRole('link', { name: 'group-4.0', exact: true }).waitFor()
  expect(await table.getByRole('link', { name: 'group-0.0', exact: true }).count()).toBe(0)
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.waitForURL('**/calendar?by=hour')
}

/** By keyboard and by the list of the busiest; each shows the jobs of its time, with links. */
export async function opensCells(page: Page): Promise<void> {
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
