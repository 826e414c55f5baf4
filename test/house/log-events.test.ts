import { expect, test } from 'vitest'
import { events, type LogEvent } from '../../src/ground/logging/index.ts'
import { entryProblems, runbookProblems, untypedLines, unusedEvents } from './log-events.ts'
import { filesIn, type HouseFile, readHouseFile } from './tree.ts'

const program = filesIn(['src'])
const names = Object.keys(events)
const runbook = readHouseFile('docs/RUNBOOK.md').text
const alerts = new Set(Array.from(runbook.matchAll(/^### (\w+)$/gm), ([, name = '']) => name))

const file = (path: string, text: string): HouseFile => ({ path, text })

/** Public types, and what adapts the logger of users or of a library. */
const takePino = [
  'src/worker/executor/handlers/handler.ts',
  'src/worker/executor/report/handled-run.ts',
  'src/clients/library/create-worker.ts',
  'src/ground/logging/logger.ts',
  'src/ground/logging/logger.ts',
  'src/testing/options.ts',
]

test('each log event of the table is used, and none twice in the table', () => {
  expect(unusedEvents(names, program)).toEqual([])
  const text = filesIn(['src/ground/logging/events']).map((found) => found.text)
  const defined = text.flatMap((found) => Array.from(found.matchAll(/^ {2}'([\w-]+)':/gm), ([, name = '']) => name))
  expect(defined.toSorted()).toEqual(names.toSorted())
})

test('each line goes through the types of the table', () => {
  expect(untypedLines(program, takePino)).toEqual([])
})

test('each log event has a name, fields and, where it is a warning or worse, an action', () => {
  expect(names.flatMap((name) => entryProblems(name, events[name as keyof typeof events], alerts))).toEqual([])
})

test('each entry of the runbook names the log events of its alert', () => {
  expect(runbookProblems(runbook, events)).toEqual([])
})

test('red: events that nobody uses, and lines past the types', () => {
  expect(unusedEvents(['a-b', 'c-d'], [file('src/a.ts', "logger.warn({ event: 'a-b' }, 'A.') // event: 'c-d'")])).toEqual(['c-d'])
  const untyped = [
    file('src/a.ts', "request.log.error({ err }, 'Bad.')"),
    file('src/b.ts', "import type { Logger } from 'pino'"),
    file('src/c.ts', "import { type Logger, pino } from 'pino'\nimport { pino } from 'pino'"),
    file('src/d.ts', 'interface L {\n  warn(facts: object, message: string): void\n}'),
  ]
  expect(untypedLines(untyped, ['src/b.ts']).map((place) => place.split(' ')[0])).toEqual([
    'src/a.ts:1',
    'src/c.ts:1',
    'src/d.ts:2',
  ])
})

test('red: entries that say too little or a wrong thing', () => {
  const event = (more: Partial<LogEvent>): LogEvent => ({ level: 'info', fields: 'err', meaning: 'It is so.', ...more })
  const known = new Set(['DuelogThing'])
  expect(entryProblems('a-b', event({ alert: 'DuelogThing' }), known)).toEqual([])
  expect(entryProblems('aB', event({}), known)).toHaveLength(1)
  expect(entryProblems('a-b', event({ fields: 'err msg' }), known)).toHaveLength(1)
  expect(entryProblems('a-b', event({ fields: 'err err?' }), known)).toHaveLength(1)
  expect(entryProblems('a-b', event({ level: 'warn' }), known)).toHaveLength(1)
  expect(entryProblems('a-b', event({ alert: 'DuelogOther' }), known)).toHaveLength(1)
  const entry = '### DuelogThing\n\n- **Log:** `c-d`.\n'
  expect(runbookProblems(entry, { 'a-b': event({ alert: 'DuelogThing' }), 'c-d': event({}) })).toEqual([
    'DuelogThing: a-b is not in its entry',
    'DuelogThing: c-d is not its event',
  ])
})
