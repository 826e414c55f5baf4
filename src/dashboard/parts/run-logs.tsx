/** Lines that the handler of a run wrote with run.log. They arrive while the run is active. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { count, instant, RunLogReader, useResource, visible } from '../model/index.ts'
import { Empty, Loading, Problem } from './states.tsx'
import { ClampedText, Text } from './text.tsx'

const levels = ['debug', 'info', 'warn', 'error'] as const

export function RunLogs({ jobId, runNo }: { jobId: string; runNo: number }) {
  const key = `${jobId}/${runNo}`
  const reader = useMemo(() => new RunLogReader(jobId, runNo), [key])
  const { value, problem } = useResource(key, (signal) => reader.read(signal))
  const least = useSignal<(typeof levels)[number]>('debug')
  const log = value.value
  const lines = log?.lines.filter(({ level }) => levels.indexOf(level) >= levels.indexOf(least.value)) ?? []
  if (log === undefined) return problem.value === undefined ? <Loading what="log lines" /> : <Problem problem={problem.value} />
  if (log.lines.length === 0)
    return <Empty>{log.done ? 'The handler wrote no lines.' : 'No lines yet.'} A handler writes them with run.log.</Empty>
  return (
    <>
      <label class="level">
        Least level{' '}
        <select
          onChange={(event) => {
            least.value = levels.find((level) => level === event.currentTarget.value) ?? 'debug'
          }}
        >
          {levels.map((level) => (
            <option key={level} value={level}>
              {level}
            </option>
          ))}
        </select>
      </label>
      <ol class="log" tabIndex={0} aria-label={`Log of run ${visible(key)}`}>
        {lines.map(({ at, level, text, fields, attempt, no, worker, shortened }) => (
          <li key={`${worker} ${attempt} ${no}`} class={level}>
            <time dateTime={at} title={`attempt ${attempt}, line ${no}, ${visible(worker)}`}>
              {instant(Date.parse(at)).slice(-8)}.{at.slice(20, 23)}
            </time>{' '}
            <span class="level-name">{level}</span> <ClampedText of={text} />{' '}
            {fields !== null && Object.keys(fields).length > 0 && (
              <span class="aside code">
                <Text of={JSON.stringify(fields)} />
              </span>
            )}
            {shortened && <span class="aside">Parts of this line were over a limit and left out.</span>}
          </li>
        ))}
      </ol>
      {log.dropped > 0 && <p class="aside">{count(log.dropped)} earlier lines are not shown.</p>}
      {log.unreadable > 0 && <p class="aside">{count(log.unreadable)} records in the topic are no lines and were skipped.</p>}
    </>
  )
}
