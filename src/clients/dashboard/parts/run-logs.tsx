/** Lines that the handler of a run wrote with run.log. They arrive while the run is active. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { api, count, instant, type RunLogLine, setTo, useResource, visible } from '../model/index.ts'
import { Answer, Empty } from './states.tsx'
import { ClampedText, Code } from './text.tsx'

/** Lines that the page keeps; the newest ones. */
const linesMax = 2_000
/** Requests of one reading: an answer may be empty while there is more. */
const requestsMax = 10

interface RunLog {
  lines: RunLogLine[]
  /** Number of earlier lines that are no longer kept. */
  dropped: number
  unreadable: number
  /** No more lines will come. */
  done: boolean
}

/** Reads the lines of a run page by page, and goes on where it stopped. */
class RunLogReader {
  readonly #run: { id: string; runNo: number }
  #cursor: string | undefined
  #log: RunLog = { lines: [], dropped: 0, unreadable: 0, done: false }

  constructor(jobId: string, runNo: number) {
    this.#run = { id: jobId, runNo }
  }

  async read(signal: AbortSignal): Promise<RunLog> {
    for (let requests = 0; requests < requestsMax && !this.#log.done; requests++) {
      const page = await api.getRunLogs({ ...this.#run, cursor: this.#cursor, signal })
      const { dropped, unreadable } = this.#log
      const lines = [...this.#log.lines, ...page.lines]
      const over = Math.max(0, lines.length - linesMax)
      this.#log = {
        lines: lines.slice(over),
        dropped: dropped + over,
        unreadable: unreadable + page.unreadable,
        done: page.cursor === null,
      }
      this.#cursor = page.cursor ?? undefined
      if (page.caughtUp) break
    }
    return this.#log
  }
}

const levels = ['debug', 'info', 'warn', 'error'] as const

export function RunLogs({ jobId, runNo }: { jobId: string; runNo: number }) {
  const key = `${jobId}/${runNo}`
  const reader = useMemo(() => new RunLogReader(jobId, runNo), [key])
  const log = useResource(key, (signal) => reader.read(signal))
  return (
    <Answer of={log} what="log lines">
      {(known) => <Lines key={key} run={key} {...known} />}
    </Answer>
  )
}

function Lines({ run, lines, done, dropped, unreadable }: RunLog & { run: string }) {
  const least = useSignal(0)
  if (lines.length === 0)
    return <Empty>{done ? 'The handler wrote no lines.' : 'No lines yet.'} A handler writes them with run.log.</Empty>
  return (
    <>
      <label class="level">
        Least level{' '}
        <select onChange={({ currentTarget }) => setTo(least, currentTarget.selectedIndex)}>
          {levels.map((level) => (
            <option key={level}>{level}</option>
          ))}
        </select>
      </label>
      <ol class="log" tabIndex={0} aria-label={`Log of run ${visible(run)}`}>
        {lines
          .filter(({ level }) => levels.indexOf(level) >= least.value)
          .map(({ at, level, text, fields, attempt, no, worker, shortened }) => (
            <li key={`${worker} ${attempt} ${no}`} class={level}>
              <time dateTime={at} title={`attempt ${attempt}, line ${no}, ${visible(worker)}`}>
                {instant(Date.parse(at)).slice(-8)}.{at.slice(20, 23)}
              </time>{' '}
              <span class="level-name">{level}</span> <ClampedText of={text} />{' '}
              {fields !== null && Object.keys(fields).length > 0 && <Code of={JSON.stringify(fields)} class="aside" />}
              {shortened && <span class="aside">Parts of this line were over a limit and left out.</span>}
            </li>
          ))}
      </ol>
      {dropped > 0 && <p class="aside">{count(dropped)} earlier lines are not shown.</p>}
      {unreadable > 0 && <p class="aside">{count(unreadable)} records in the topic are no lines and were skipped.</p>}
    </>
  )
}
