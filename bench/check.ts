/**
 * A gate of `npm test`: what the client costs for a record, beside bare kafkajs, compared with the last accepted results
 * (peers/results.json). It is a ratio of processor times of one run. Machines of CI are busy and differ by more than a factor of
 * two, so speeds say little there; they are measured by `npm run bench -- peers` on a quiet machine.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCase } from './peers/cases.ts'
import type { Published } from './peers/report.ts'
import { withServers } from './peers/servers.ts'

const compared = ['Duelog', 'bare kafkajs'] as const
const rounds = 3
/** The ratio may be larger than the accepted one by this factor. Without our encoder of records it is larger by 1.8. */
const tolerance = 1.4

const { n, seconds, results } = JSON.parse(await readFile(join(import.meta.dirname, 'peers/results.json'), 'utf8')) as Published
const costs = (all: Published['results'], system: string): number[] =>
  all.filter((result) => result.case === 'bulk' && result.system === system).map(({ figures }) => figures.cpuUsEach ?? 0)
/** The least of several runs is disturbed least. */
const ratioOf = (all: Published['results']): number => Math.min(...costs(all, compared[0])) / Math.min(...costs(all, compared[1]))

const measured: Published['results'] = []
await withServers(['kafka'], async (servers) => {
  for (let run = 1; run <= rounds; run++)
    for (const system of compared) {
      const place = await servers.get('kafka')?.place(false)
      if (place === undefined) throw new Error('There is no broker.')
      try {
        measured.push({ case: 'bulk', system, run, ...(await runCase('bulk', system, place, { n, seconds })) })
      } finally {
        await place.remove()
      }
    }
})
const [ratio, accepted] = [ratioOf(measured), ratioOf(results)]
const problems = measured.flatMap(({ system, problems }) => problems.map((problem) => `${system}: ${problem}`))
if (!(ratio <= accepted * tolerance))
  problems.push(
    `A record costs ${ratio.toFixed(2)} of what bare kafkajs needs; accepted is ${accepted.toFixed(2)}, at most ${(accepted * tolerance).toFixed(2)}.`,
  )
for (const problem of problems) console.error(problem)
console.log(`Client beside bare kafkajs: ${ratio.toFixed(2)} of its processor time, accepted ${accepted.toFixed(2)}.`)
process.exit(problems.length > 0 ? 1 : 0)
