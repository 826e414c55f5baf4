/**
 * Writes the pages and the types that are made from the code, and the table of limits in README.md. Run it with `npm run generate`;
 * a test fails when its output and a committed file differ.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { accessPage } from './pages/access.ts'
import { answerTypes, apiCalls } from './pages/answer-types.ts'
import { apiPage } from './pages/api.ts'
import { chartValuesSchema } from './pages/chart-values.ts'
import { cliPage } from './pages/cli.ts'
import { configurationPage } from './pages/configuration.ts'
import { errorsPage } from './pages/errors.ts'
import { jobsPage } from './pages/jobs.ts'
import { libraryPage } from './pages/library.ts'
import { limitsTable } from './pages/limits.ts'
import { logsPage } from './pages/logs.ts'
import { metricsPage } from './pages/metrics.ts'
import { topicsPage } from './pages/topics.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Path and text of each generated file. */
export function madeFiles(): Map<string, string> {
  return new Map([
    ['docker/helm/duelog/values.schema.json', chartValuesSchema()],
    ['docs/ACCESS.md', accessPage()],
    ['docs/API.md', apiPage()],
    ['docs/CLI.md', cliPage()],
    ['docs/CONFIGURATION.md', configurationPage()],
    ['docs/ERRORS.md', errorsPage()],
    ['docs/JOBS.md', jobsPage()],
    ['docs/LIBRARY.md', libraryPage()],
    ['docs/LOGS.md', logsPage()],
    ['docs/METRICS.md', metricsPage()],
    ['docs/TOPICS.md', topicsPage()],
    ['src/ground/answers/answers.ts', answerTypes()],
    ['src/ground/answers/api.ts', apiCalls()],
    ['README.md', withLimits(readFileSync(`${root}README.md`, 'utf8'))],
  ])
}

const from = '<!-- limits: made by docs/generate.ts -->'
const to = '<!-- /limits -->'

/** The text with a new table between the two marks. Throws when a mark is missing. */
export function withLimits(text: string): string {
  const [start, end] = [text.indexOf(from), text.indexOf(to)]
  if (start < 0 || end < start) throw new Error(`README.md must have ${from} and, after it, ${to}.`)
  return `${text.slice(0, start + from.length)}\n${limitsTable()}\n${text.slice(end)}`
}

if (import.meta.main) for (const [path, text] of madeFiles()) writeFileSync(`${root}${path}`, text)
