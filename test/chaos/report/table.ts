/** The results as a table, for the terminal and for docs/RELIABILITY.md. */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Result } from './result.ts'

const page = fileURLToPath(new URL('../../../docs/RELIABILITY.md', import.meta.url))
const beginOf = (table: string): string => `<!-- chaos: written by \`npm run chaos -- --write ${table}\` -->`
const end = '<!-- /chaos -->'

const seconds = (ms: number): string => (ms / 1000).toFixed(ms < 100_000 ? 1 : 0)
const number = (count: number): string => count.toLocaleString('en-US')

export function rowOf(result: Result): string {
  const { fault, what, outcome, why, goal, reached } = result
  if (outcome === 'not-run') return `| \`${fault}\`: ${what} | not run: ${why.join('; ')} | | | | | | | |`
  const verdict = `${result.lost}, ${result.duplicate}, ${result.early}`
  const goalText = goal === undefined ? '' : `${goal}: ${reached ? 'yes' : 'no'}`
  const judged = outcome === 'passed' ? verdict : `${verdict}; FAILED`
  return `| \`${fault}\`: ${what} | ${number(result.fires)} | ${judged} | ${seconds(result.longestMs)} | ${seconds(result.gapMs)} | ${seconds(result.kafkaGapMs)} | ${seconds(result.lateForMs)} | ${seconds(result.afterMs)} | ${goalText} |`
}

export function tableOf(results: readonly Result[]): string {
  const head = [
    '| Fault | Fires | Lost, duplicate, early | Longest lateness, s | Longest gap of a partition, s | Kafka not written for, s | Late for, s | Late after its end, s | Goal: reached |',
    '|---|--:|---|--:|--:|--:|--:|--:|---|',
  ]
  return [...head, ...results.map(rowOf)].join('\n')
}

/** Writes the table between its markers. */
export async function writePage(table: string, results: readonly Result[], setting: string): Promise<void> {
  const text = await readFile(page, 'utf8')
  const begin = beginOf(table)
  const from = text.indexOf(begin)
  const to = text.indexOf(end, from)
  if (from < 0 || to < from) throw new Error(`docs/RELIABILITY.md must have ${begin} and ${end}.`)
  const made = `${begin}\n\n${setting}\n\n${tableOf(results)}\n\n`
  await writeFile(page, text.slice(0, from) + made + text.slice(to))
}
