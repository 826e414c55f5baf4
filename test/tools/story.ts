/** What a test saw, told when it fails: whole where it fails, and its last lines at the end of the whole run. */
import type { TestContext } from 'vitest'

/** In the meta data of a test, and so in the report of vitest. */
export interface Told {
  stories?: string[]
}

/** Tells `story` if the test fails, a time-out included. */
export function tellIfFailed(test: Pick<TestContext, 'onTestFailed'>, story: () => string): void {
  test.onTestFailed(({ task }) => {
    const told = story()
    console.log(told)
    const meta = task.meta as Told
    meta.stories = [...(meta.stories ?? []), told]
  })
}
