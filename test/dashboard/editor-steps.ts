/** Steps of the tests in the editor of jobs. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible, expectFocusOn, stepMs, view } from './browser.ts'
import type { DashboardSite } from './site.ts'

export const watched = {
  schedule: { everyMs: 1_000 },
  target: { handler: 'noop' },
  payload: { to: 'a@example.org' },
  tags: ['shown'],
}

/** Changes the interval from 1 s to 5 s, while another person changes other fields. */
export async function edit(page: Page, { put }: DashboardSite): Promise<void> {
  await page.getByRole('link', { name: 'Edit watched' }).click()
  const text = page.getByRole('textbox', { name: 'Definition as JSON' })
  const review = page.getByRole('button', { name: 'Review changes' })
  const change = async (from: string, to: string) => text.fill((await text.inputValue()).replace(from, to))
  const problems = page.locator('#json-problem')
  // Nothing that has its default.
  expect(Object.keys(JSON.parse(await text.inputValue()))).toEqual(['schedule', 'target', 'tags', 'payload'])
  await page.getByText('No changes yet').waitFor()
  await change('"everyMs": 1000', '"everyMs": ')
  await problems.getByText('A value must come here').waitFor()
  await problems.getByRole('button', { name: 'Line 4, column 3' }).waitFor()
  expect(await review.isDisabled()).toBe(true)
  // The server's own refusal, on the line of the field.
  await change('"everyMs": ', '"everyMs": 5')
  await page.locator('.json-lines .wrong', { hasText: '"everyMs": 5' }).getByText('allowed: 100 to').waitFor()
  await page.getByText('Not accepted: 1 problem, on line 3').waitFor()
  await expectAccessible(page, 'edit-refused')
  await problems.getByRole('button', { name: 'Line 3, column 5' }).press('Enter')
  expect(await page.evaluate('document.activeElement.selectionStart')).toBe(22)
  // Form and JSON are one text: a key in one shows in the other, and what the form does not know stays as it is.
  const interval = page.getByLabel('Interval in ms')
  expect(await interval.inputValue()).toBe('5')
  await page.getByText('schedule.everyMs is 5 ms').nth(1).waitFor()
  await interval.fill('5000')
  expect(await text.inputValue()).toContain('"everyMs": 5000\n')
  await change('"shown"', '"shown", "b"')
  expect(await page.getByLabel('Tags, separated by commas').inputValue()).toBe('shown, b')
  await page.getByLabel('Tags, separated by commas').fill('shown')
  await page.getByText('Retries', { exact: true }).press('Enter')
  await page.getByLabel('Attempts', { exact: true }).fill('7')
  expect(JSON.parse(await text.inputValue())).toMatchObject({ retry: { maxAttempts: 7 }, tags: ['shown'] })
  await page.getByLabel('Attempts', { exact: true }).fill('')
  expect(JSON.parse(await text.inputValue())).not.toHaveProperty('retry')
  await page.getByLabel('Payload (JSON)').fill('{ "n": 9007199254740993 }')
  expect(await text.inputValue()).toContain('{"n":9007199254740993}')
  await page.getByLabel('Payload (JSON)').fill('{ "to": "a@example.org" }')
  await undoes(page, text)
  await completes(page, text)
  await problems.getByRole('listitem').waitFor({ state: 'detached' })
  await expect.poll(() => review.isEnabled(), { timeout: stepMs }).toBe(true)
  await expectAccessible(page, 'edit')

  // The draft outlives another view and a reload, and leaves with the question of the browser.
  await view(page, 'Workers').click()
  await expectFocusOn(page, 'Workers')
  await page.goBack()
  await text.waitFor()
  const asked = new Promise<string>((resolve) => {
    page.once('dialog', (dialog) => {
      resolve(dialog.type())
      void dialog.accept()
    })
  })
  await page.reload()
  expect(await asked).toBe('beforeunload')
  await text.waitFor()
  expect(await text.inputValue()).toContain('"everyMs": 5000')

  await put('watched', { ...watched, payload: { to: 'b@example.org' }, tags: ['shown', 'theirs'] })
  const banner = page.locator('.conflict', { hasText: 'Someone else saved this job meanwhile' })
  await banner.waitFor()
  expect(await review.isDisabled()).toBe(true)
  await banner.getByText('What they changed').click()
  await banner.getByRole('region', { name: 'What they changed' }).getByText('b@example.org').waitFor()
  await expectAccessible(page, 'edit-conflict')
  await banner.getByRole('button', { name: 'Begin again from the present definition' }).click()
  await page.getByRole('dialog').getByRole('region').getByText('"everyMs": 5000').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Keep editing' }).click()
  await banner.getByRole('button', { name: 'Apply my changes' }).click()
  const lines = page.getByRole('region', { name: 'Changed lines' })
  await lines.getByText('"everyMs": 5000').waitFor()
  expect(await lines.getByText('example.org').count()).toBe(0)
  await page.getByRole('list', { name: 'Removed times' }).waitFor()
  await expectAccessible(page, 'review')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await text.waitFor({ state: 'detached' })
}

/** A draft is seen from the page of its job, and ends with a sign-out that was confirmed. */
export async function endsDrafts(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Edit guarded' }).click()
  await page.getByLabel('Interval in ms').fill('70000')
  await view(page, 'Jobs').click()
  await page.goBack()
  await page.getByRole('textbox', { name: 'Definition as JSON' }).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Continue editing' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('sign out')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('dialog').getByText('1 draft that you have not saved').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Discard and sign out' }).click()
  await page.getByLabel('Token').waitFor()
  expect(await page.evaluate('sessionStorage.getItem("duelog.drafts")')).toBeNull()
}

/** By keyboard, whether the form or the text made a change, from both of them, and the same again. */
async function undoes(page: Page, text: Locator): Promise<void> {
  const texts = [await text.inputValue()]
  await page.getByLabel('Missed occurrences').selectOption('SKIP')
  texts.push(await text.inputValue())
  const interval = page.getByLabel('Interval in ms')
  await interval.fill('7000')
  texts.push(await text.inputValue())
  await text.press('Control+Home')
  await page.keyboard.type(' ')
  for (const before of texts.toReversed()) {
    await text.press('Control+z')
    expect(await text.inputValue()).toBe(before)
  }
  await interval.press('Control+Shift+Z')
  await interval.press('Control+y')
  expect(await text.inputValue()).toBe(texts[2])
  expect(await interval.inputValue()).toBe('7000')
  // What is typed and no JSON yet is the field's own.
  const payload = page.getByLabel('Payload (JSON)')
  await payload.press('End')
  await page.keyboard.type('{')
  await payload.press('Control+z')
  expect(await text.inputValue()).toBe(texts[2])
  await interval.press('Control+z')
  await interval.press('Control+z')
  expect(await text.inputValue()).toBe(texts[0])
}

/** By keyboard alone: a field and its value from the suggestions, and back again. */
async function completes(page: Page, text: Locator): Promise<void> {
  const before = await text.inputValue()
  for (const key of ['Control+Home', 'End', 'Enter']) await text.press(key)
  await page.keyboard.type('"catch')
  await page.getByRole('option', { name: 'catchUpMax' }).waitFor()
  expect(await page.getByLabel('Interval in ms').inputValue()).toBe('5000')
  expect(await page.getByLabel('Interval in ms').isDisabled()).toBe(true)
  await expectAccessible(page, 'edit-suggestions')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  expect(JSON.parse(await text.inputValue())).toEqual({ catchUp: 'SKIP', ...JSON.parse(before) })
  await page.keyboard.press('Control+Space')
  await page.getByRole('option', { name: 'catchUpMax' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
  await text.fill(before)
}
