/** Text of a plan: one line for each job that would change, followed by its added, removed and moved times. */
import { exactTime, inSentence, numberText, oneLine, type Paint, type TimeText } from '../terminal/index.ts'

export interface PlannedJob {
  id: string | null
  action: 'CREATE' | 'UPDATE' | 'UNCHANGED' | 'DROPPED' | 'INVALID'
  changed?: string[]
  /** Fields whose hidden values were not compared. */
  hidden?: string[]
  reason?: string | null
  fires?: { added: string[]; removed: string[]; moved: { from: string; to: string }[]; kept: number; until: string }
  problems?: { message: string }[]
  /** Allowed, but probably not intended. */
  warnings?: string[]
}

export interface PlanAnswer {
  jobs: PlannedJob[]
  totals: Record<string, number>
}

/** Maximum of times of each kind shown for a job; --json has all that were compared. */
const timesShownMax = 5

const colors = { CREATE: 'green', UPDATE: 'yellow', DROPPED: 'dim', INVALID: 'red' } as const

/** Empty for an unchanged job without warnings. */
export function planLines(
  place: { file: string; line: number } | undefined,
  job: PlannedJob,
  paint: Paint,
  time: TimeText,
): string {
  const { id, action, changed = [], hidden = [], reason, fires, problems = [], warnings = [] } = job
  const unseen = `values of ${hidden.join(' and ')} that a viewer's token cannot see were not compared`
  const warned = [...warnings, ...(hidden.length > 0 ? [unseen] : [])]
    .map((text) => `  ${paint('yellow', 'warning')} ${oneLine(inSentence(text, time))}\n`)
    .join('')
  if (action === 'UNCHANGED') return warned === '' ? '' : `${paint('dim', 'same')}     ${oneLine(id ?? '')}\n${warned}`
  const what = [
    changed.length > 0 ? `(${changed.join(', ')})` : '',
    inSentence(reason ?? '', time),
    ...problems.map(({ message }) => inSentence(message, time)),
  ]
  const at = action === 'INVALID' && place !== undefined ? ` ${oneLine(place.file)}:${place.line}` : ''
  const head = `${paint(colors[action], action.toLowerCase().padEnd(8))}${at} ${oneLine([id ?? '(no id)', ...what].filter(Boolean).join(' '))}\n`
  if (fires === undefined) return `${head}${warned}`
  const shown = (at: string): string => exactTime(at, time)
  const moved = fires.moved.map(({ from, to }) => `${shown(from)} -> ${shown(to)}`)
  const [added, removed] = [fires.added.map(shown), fires.removed.map(shown)]
  return `${head}${warned}${timesText(added, paint('green', '+'))}${timesText(removed, paint('red', '-'))}${timesText(moved, paint('yellow', '~'))}`
}

function timesText(times: readonly string[], painted: string): string {
  const lines = times.slice(0, timesShownMax).map((time) => `  ${painted} ${oneLine(time)}\n`)
  const more = times.length - lines.length
  return `${lines.join('')}${more > 0 ? `  ${painted} and ${numberText(more)} more\n` : ''}`
}

export function totalsText(totals: Record<string, number>): string {
  const of = (name: string): string => numberText(totals[name] ?? 0)
  const jobs = `${of('create')} to create, ${of('update')} to update, ${of('unchanged')} unchanged, ${of('dropped')} dropped, ${of('invalid')} invalid`
  return `Jobs: ${jobs}.\nTimes: ${of('added')} added, ${of('removed')} removed, ${of('moved')} moved, ${of('kept')} kept.\n`
}
