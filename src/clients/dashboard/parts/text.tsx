/** Text of others and times. Text is isolated, so that its direction does not reorder the page, with invisible characters shown, and cut if it is long. */
import { useSignal } from '@preact/signals'
import { writeJson } from '../../../../streams/text/index.ts'
import {
  type AttemptError,
  count,
  instant,
  jobHref,
  nowMs,
  type RunDetail,
  relative,
  runHref,
  setTo,
  viewerZone,
  visible,
} from '../model/index.ts'

/** Longest text of an error in a list, in characters. */
const clampChars = 240
/** Longest payload, result or stack that is shown at once, in characters. */
const blockChars = 20_000

export const Text = ({ of }: { of: string }) => <bdi>{visible(of)}</bdi>

export const Code = ({ of, class: kind = '' }: { of: string; class?: string }) => (
  <span class={`code ${kind}`.trim()}>
    <Text of={of} />
  </span>
)

/** Sentences of the server, in which backticks enclose what one types. */
export const Prose = ({ of }: { of: string }) => (
  <>
    {of
      .split(/`([^`]+)`/)
      .map((part, index) => (index % 2 === 0 ? <Text key={index} of={part} /> : <code key={index}>{<Text of={part} />}</code>))}
  </>
)

const ShowAll = ({ text, show }: { text: string; show: () => void }) => (
  <button type="button" class="link" onClick={show}>
    Show all {count(text.length)} characters
  </button>
)

/** A text of any length: its beginning, and all of it on demand. */
export function ClampedText({ of }: { of: string }) {
  const open = useSignal(false)
  if (of.length <= clampChars || open.value) return <bdi class="lines">{visible(of, true)}</bdi>
  return (
    <>
      <bdi class="lines">{visible(of.slice(0, clampChars), true)}…</bdi> <ShowAll text={of} show={() => setTo(open, true)} />
    </>
  )
}

export const ErrorText = ({
  of: { type, message },
  class: kind,
}: {
  of: Pick<AttemptError, 'type' | 'message'>
  class?: string
}) => (
  <>
    <Code of={type} class={kind ?? ''} />: <ClampedText of={message} />
  </>
)

/** A block of code or JSON that scrolls. */
export function CodeBlock({ label, text }: { label: string; text: string }) {
  const whole = useSignal(false)
  const cut = text.length > blockChars && !whole.value
  return (
    <>
      <pre tabIndex={0} role="region" aria-label={label}>
        <bdi>{visible(cut ? text.slice(0, blockChars) : text, true)}</bdi>
        {cut && '…'}
      </pre>
      {cut && <ShowAll text={text} show={() => setTo(whole, true)} />}
    </>
  )
}

type Input = Pick<NonNullable<RunDetail['input']>, 'payload' | 'payloadBase64' | 'headers'>

/** Payload and headers of a run. */
export function InputBlocks({ runId, input: { payload, payloadBase64, headers } }: { runId: string; input: Input }) {
  const text = payload === undefined ? 'none' : typeof payload === 'string' ? payload : writeJson(payload, 2)
  return (
    <>
      <CodeBlock
        label={`Payload of run ${visible(runId)}`}
        text={payloadBase64 === undefined ? text : `base64 ${payloadBase64}`}
      />
      {Object.keys(headers).length > 0 && (
        <CodeBlock label={`Headers of run ${visible(runId)}`} text={JSON.stringify(headers, null, 2)} />
      )}
    </>
  )
}

export const JobLink = ({ id }: { id: string }) => (
  <a href={jobHref(id)} class="code">
    <Breakable of={id} />
  </a>
)

/** Breaks an ID after a dot, a colon or a bar rather than within a word. */
const Breakable = ({ of }: { of: string }) => (
  <bdi>
    {visible(of)
      .split(/(?<=[.:_/])/)
      .map((part, index) => (
        <>
          {index > 0 && <wbr />}
          {part}
        </>
      ))}
  </bdi>
)

/** With `named`, the link reads `job/12`, otherwise `12`. */
export function RunLink({ jobId, runNo, named = false }: { jobId: string; runNo: number; named?: boolean }) {
  return (
    <a href={runHref(jobId, runNo)} class="code" aria-label={`Run ${visible(jobId)}/${runNo}`}>
      {named && (
        <>
          <Breakable of={jobId} />/
        </>
      )}
      {runNo}
    </a>
  )
}

export function Names({ title, names }: { title: string; names: readonly string[] }) {
  return (
    <details class="names">
      <summary>
        <Text of={title} />
      </summary>
      <ul class="code">
        {names.map((name) => (
          <li key={name}>
            <Text of={name} />
          </li>
        ))}
      </ul>
    </details>
  )
}

interface WhenProps {
  at: string | null | undefined
  /** Time zone of the job. */
  zone?: string | undefined
  /** Without the distance from now. */
  plain?: boolean
  /** With milliseconds, and without the day if it is that of this time. */
  onDayOf?: string
  /** Only the distance from now. */
  brief?: boolean
}

/** A time in the viewer's time zone, its distance from now, and the time in the job's zone where it differs. */
export function When({ at, zone, plain = false, onDayOf, brief = false }: WhenProps) {
  if (at === null || at === undefined) return <span class="none">—</span>
  const atMs = Date.parse(at)
  if (brief) {
    return (
      <time class="brief" dateTime={at} title={`${instant(atMs)} ${viewerZone}`}>
        {relative(atMs, nowMs.value)}
      </time>
    )
  }
  const elsewhere = zone !== undefined && instant(atMs, zone) !== instant(atMs)
  return (
    <span class="when">
      <time dateTime={at} title={`${at} · ${viewerZone}`}>
        {onDayOf === undefined ? instant(atMs) : preciseText(atMs, Date.parse(onDayOf))}
      </time>
      {!plain && <span class="aside">{relative(atMs, nowMs.value)}</span>}
      {elsewhere && (
        <span class="aside">
          {instant(atMs, zone)} {zone}
        </span>
      )}
    </span>
  )
}

/** `10:05:00.250`, with the day if it is another than that of `dayMs`. */
function preciseText(atMs: number, dayMs: number): string {
  const [whole, day] = [instant(atMs), instant(dayMs)]
  const time = `${whole.slice(-8)}.${String(atMs % 1_000).padStart(3, '0')}`
  return whole.slice(0, -8) === day.slice(0, -8) ? time : `${whole.slice(0, -8)}${time}`
}
