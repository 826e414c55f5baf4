import { expect, it } from 'vitest'
import { jobActions, runActions } from '../../../src/ground/records/owners.ts'
import { changeWords, nothingFound } from '../../../streams/text/words.ts'

it('has words for each action of the server, and some for those of later versions', () => {
  for (const action of [...jobActions, ...runActions]) expect(changeWords(action).done).not.toBe('changed')
  expect(changeWords('toString')).toEqual({ done: 'changed', thing: 'thing' })
})

it('says that an operation found nothing, and by what it looked', () => {
  expect(nothingFound('DELETE', { tag: 'eu' })).toBe('No job matches the filter; nothing was changed.')
  expect(nothingFound('REDRIVE', { handler: 'mail' })).toBe('No dead run matches the filter; nothing was changed.')
  // Jobs that are paused already match, and are not counted.
  expect(nothingFound('PAUSE', { tag: 'eu' })).toBe('No job to pause matches the filter; nothing was changed.')
  expect(nothingFound('RESUME', {})).toBe('There is no job to resume; nothing was changed.')
  expect(nothingFound('DISCARD', null)).toBe('No dead run of the list was found; nothing was changed.')
})
