import { expect, test } from 'vitest'
import { Semaphore } from '../../src/ground/concurrency/semaphore.ts'

const pending = () => Promise.withResolvers<void>()

test('tasks run when a slot is free, in the order they came, also after one that failed', async () => {
  const slots = new Semaphore(1)
  const first = pending()
  const begun: string[] = []
  const run = (name: string, task: Promise<void>) =>
    slots.run(() => {
      begun.push(name)
      return task
    })
  const [one, two, three] = [run('one', first.promise), run('two', Promise.resolve()), run('three', Promise.resolve())]
  expect(begun).toEqual(['one'])
  first.reject(new Error('one failed'))
  await expect(one).rejects.toThrow('one failed')
  await Promise.all([two, three])
  expect(begun).toEqual(['one', 'two', 'three'])
})

test('who gives up waits no longer, and leaves the slot to the others', async () => {
  const slots = new Semaphore(1)
  const [first, givenUp] = [pending(), Promise.withResolvers<never>()]
  const one = slots.run(() => first.promise)
  const two = slots.run(async () => 'two', givenUp.promise)
  const three = slots.run(async () => 'three')
  givenUp.reject(new Error('given up'))
  await expect(two).rejects.toThrow('given up')
  first.resolve()
  await one
  expect(await three).toBe('three')
  expect(await slots.run(async () => 'four', new Promise<never>(() => {}))).toBe('four')
})
