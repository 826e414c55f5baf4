/** Rules about log events: which names the code uses, and what the table says of each. */
import type { LogEvent } from '../../src/ground/logging/events/index.ts'
import { codeOf, type HouseFile, placesOf, withoutComments } from './tree.ts'

/** Names of pino's own fields, and of the two that each line has. */
const taken = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'event', 'reqId', 'linesLeftOut'])

/** Names of the table that no call uses. */
export function unusedEvents(names: readonly string[], files: readonly HouseFile[]): string[] {
  const code = files.filter(({ path }) => !path.startsWith('src/ground/logging/events/')).map(({ text }) => withoutComments(text))
  return names.filter((name) => !code.some((text) => text.includes(`event: '${name}'`) || text.includes(`, '${name}')`)))
}

/**
 * Places that log past the types: by the logger of a request or of a run as it is, or in a file that takes the logger of pino. The
 * compiler checks all other lines.
 */
export function untypedLines(files: readonly HouseFile[], exempt: readonly string[]): string[] {
  const direct = /\b(request|reply|run|instance)\.(log|logger)\.(trace|debug|info|warn|error|fatal)\(/
  const pinoLogger = /^import (type )?\{[^}]*\bLogger\b[^}]*\} from 'pino'/
  const ownInterface = /\b(debug|info|warn|error|fatal)\((facts|line|about): object\b/
  return files
    .filter(({ path }) => path.startsWith('src/') && !path.startsWith('src/clients/dashboard/'))
    .flatMap(({ path, text }) => [
      ...placesOf(path, codeOf(text), direct),
      ...placesOf(path, codeOf(text), ownInterface),
      ...(exempt.includes(path) ? [] : placesOf(path, withoutComments(text), pinoLogger)),
    ])
}

/** What is wrong with an entry of the table. `alerts`: names of the alerts in the runbook. */
export function entryProblems(name: string, event: LogEvent, alerts: ReadonlySet<string>): string[] {
  const fields = event.fields === '' ? [] : event.fields.split(' ')
  const bare = fields.map((field) => field.replace(/\?$/, ''))
  const needsAction = [event.level].flat().some((level) => level === 'warn' || level === 'error' || level === 'fatal')
  return [
    ...(/^[a-z]+(-[a-z]+)+$/.test(name) ? [] : [`${name}: not kebab-case of two words or more`]),
    ...(bare.every((field) => /^[a-z][A-Za-z]*$/.test(field) && !taken.has(field)) ? [] : [`${name}: a field with a bad name`]),
    ...(new Set(bare).size === bare.length ? [] : [`${name}: a field twice`]),
    ...(needsAction && event.action === undefined ? [`${name}: no action`] : []),
    ...(event.alert === undefined || alerts.has(event.alert) ? [] : [`${name}: no alert ${event.alert} in the runbook`]),
  ]
}

/** Events that an entry of the runbook names and that are not of its alert, and events of an alert that its entry does not name. */
export function runbookProblems(runbook: string, events: Record<string, LogEvent>): string[] {
  return runbook.split(/^### /m).flatMap((entry) => {
    const alert = /^\w+/.exec(entry)?.[0] ?? ''
    const line = /^- \*\*Log:\*\* (.*)$/m.exec(entry)?.[1] ?? ''
    const named = Array.from(line.matchAll(/`([\w-]+)`/g), ([, name = '']) => name).toSorted()
    const own = Object.keys(events).filter((name) => events[name]?.alert === alert)
    const missing = own.filter((name) => !named.includes(name)).map((name) => `${alert}: ${name} is not in its entry`)
    return [...missing, ...named.filter((name) => !own.includes(name)).map((name) => `${alert}: ${name} is not its event`)]
  })
}
