/** Why a definition cannot be saved now, beside the button that saves it. */
import { counted } from '../model/index.ts'
import type { DefinitionCheck } from './definition-check.ts'

/** Empty: it can be saved. */
export function refusalOf({ marks, planned, away, definition }: DefinitionCheck): string {
  const [first] = marks
  if (first !== undefined) {
    const place = first.line === undefined ? '' : `, ${marks.length === 1 ? 'on' : 'the first on'} line ${first.line}`
    return `Not accepted: ${counted(marks.length, 'problem')}${place}.`
  }
  if (definition === undefined) return 'The definition cannot be read.'
  if (away !== '') return `Not checked yet: ${away}`
  if (planned === undefined) return 'Checking …'
  if (planned.action === 'DROPPED') return `It would have no effect: ${planned.reason ?? 'its version or dedupKey prevents it.'}`
  return ''
}
