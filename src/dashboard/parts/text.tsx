/** Text of others: isolated, so that its direction does not reorder the page, with invisible characters shown, and cut if it is long. */
import { useSignal } from '@preact/signals'
import { count, jobHref, runHref, visible } from '../model/index.ts'

/** Longest text of an error in a list, in characters. */
const clampChars = 240
/** Longest payload, result or stack that is shown at once, in characters. */
const blockChars = 20_000

export const Text = ({ of }: { of: string }) => <bdi>{visible(of)}</bdi>

/** Sentences of the server, in which backticks enclose what one types. */
export const Prose = ({ of }: { of: string }) => (
  <>
    {of.split(/`([^`]+)`/).map((part, index) =>
      index % 2 === 0 ? (
        <Text key={index} of={part} />
      ) : (
        <code key={index}>
          <Text of={part} />
        </code>
      ),
    )}
  </>
)

/** A text of any length: its beginning, and all of it on demand. */
export function ClampedText({ of }: { of: string }) {
  const open = useSignal(false)
  if (of.length <= clampChars || open.value) return <bdi class="lines">{visible(of, true)}</bdi>
  return (
    <>
      <bdi class="lines">{visible(of.slice(0, clampChars), true)}…</bdi>{' '}
      <button
        type="button"
        class="link"
        onClick={() => {
          open.value = true
        }}
      >
        Show all {count(of.length)} characters
      </button>
    </>
  )
}

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
      {cut && (
        <button
          type="button"
          class="link"
          onClick={() => {
            whole.value = true
          }}
        >
          Show all {count(text.length)} characters
        </button>
      )}
    </>
  )
}

export function JobLink({ id }: { id: string }) {
  return (
    <a href={jobHref(id)} class="code">
      <Breakable of={id} />
    </a>
  )
}

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
