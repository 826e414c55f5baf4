/** A child process that runs roles and whose start does not end. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

/** It waits for its plan. */
async function starting(): Promise<{ child: ChildProcess; exited: Promise<unknown[]> }> {
  const child = fork(fileURLToPath(new URL('../../src/program/cli/role-process.ts', import.meta.url)), { stdio: 'ignore' })
  const exited = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'message')
  return { child, exited }
}

it('ends at once when its parent has gone', async () => {
  const { child, exited } = await starting()
  child.disconnect()
  expect(await exited).toEqual([0, null])
})

it('ends when it is stopped', async () => {
  const { child, exited } = await starting()
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
})
