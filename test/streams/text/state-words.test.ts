/** Sentences name states and commands in plain words. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { commandNoun, stateWords } from '../../../streams/text/words.ts'

/** The symbols of the enums with these names, from the schemas. */
function symbolsOf(names: RegExp): string[] {
  const folder = new URL('../../../schemas/', import.meta.url)
  const texts = readdirSync(folder).filter((file) => file.endsWith('.avsc'))
  return texts.flatMap((file) => {
    const found = readFileSync(new URL(file, folder), 'utf8').matchAll(/"name": "(\w+)", "symbols": \[([^\]]*)\]/g)
    return [...found].filter(([, name = '']) => names.test(name)).flatMap(([, , list]) => JSON.parse(`[${list}]`) as string[])
  })
}

it('each state of a job and of a run has words, and each command a noun', () => {
  const states = symbolsOf(/Status$/)
  expect(states).toEqual(expect.arrayContaining(['ACTIVE', 'INVALID', 'RETRY_WAIT', 'DEAD']))
  for (const state of states) expect(stateWords(state)).toMatch(/^(is|has|was|waits)( [a-z]+)*$/)
  const commands = symbolsOf(/^JobCommandType$/)
  expect(commands).toContain('REDRIVE')
  for (const command of commands) expect(commandNoun({ type: command })).toMatch(/^[a-z]+( [a-z]+)*$/)
})

it('what a later version of the server may have is named as it is', () => {
  expect([stateWords('HALTED'), stateWords('constructor'), commandNoun({ type: 'EXPLODE' })]).toEqual([
    'is HALTED',
    'is constructor',
    'EXPLODE',
  ])
})
