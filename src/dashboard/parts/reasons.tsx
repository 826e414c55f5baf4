/** Why a job fired or did not: sentences of the server, with equal ones merged, times in the viewer's zone, and links to runs. */
import { type ReasonGroup, reasonGroups } from '../../../streams/text/index.ts'
import { instant, type JobExplanation, type Run, viewerZone } from '../model/index.ts'
import { Empty } from './states.tsx'
import { Prose, RunLink, Text } from './text.tsx'
import { When } from './when.tsx'

interface ReasonsProps {
  jobId: string
  why: JobExplanation['why']
  /** The runs that are kept, for the errors of those that the reasons name. */
  runs: readonly Run[]
}

export function Reasons({ jobId, why, runs }: ReasonsProps) {
  if (why.length === 0) return <Empty>Nothing is blocking this job, and no occurrence was skipped.</Empty>
  return (
    <ul class="reasons">
      {reasonGroups(why).map((group, index) => (
        <Group key={`${group.code}/${group.reasons[0]?.at}/${index}`} jobId={jobId} group={group} runs={runs} />
      ))}
    </ul>
  )
}

function Group({ jobId, group: { text, at, reasons }, runs }: { jobId: string; group: ReasonGroup; runs: readonly Run[] }) {
  const [first] = reasons
  const error = runs.find(({ runNo }) => runNo === first?.runNo)?.errors.at(-1)
  const last = reasons.at(-1)
  return (
    <li>
      <Sentence jobId={jobId} text={text} />{' '}
      {first?.isEnd && error !== undefined && (
        <>
          Its last error:{' '}
          <span class="code">
            <Text of={error.type} />
          </span>
          .{' '}
        </>
      )}
      {at !== null && <When at={at} />}
      {reasons.length > 1 && (
        <details class="aside">
          <summary>
            {reasons.length} times{last?.at != null && <>, first {instant(Date.parse(last.at))}</>}
          </summary>
          <ul>
            {reasons.map((reason, index) => (
              <li key={`${reason.at}/${index}`}>
                <Sentence jobId={jobId} text={reason.text} /> {reason.at !== null && <When at={reason.at} plain />}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

const marks = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)|\b(Run \d+)\b/

/** UTC times become local ones, whose title has UTC. */
function Sentence({ jobId, text }: { jobId: string; text: string }) {
  return (
    <span>
      {text
        .split(marks)
        .filter((part) => part !== undefined && part !== '')
        .map((part, index) => {
          if (/^\d{4}-\d\d-\d\dT/.test(part))
            return (
              <time key={index} dateTime={part} title={`${part} UTC; ${viewerZone}`}>
                {instant(Date.parse(part))}
              </time>
            )
          if (!/^Run \d+$/.test(part)) return <Prose key={index} of={part} />
          return (
            <span key={index}>
              Run <RunLink jobId={jobId} runNo={Number(part.slice(4))} />
            </span>
          )
        })}
    </span>
  )
}
