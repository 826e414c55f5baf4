/** What a view is made of: its heading and sections, facts and figures, a status as a word, choices; and what stands there while data is loading, empty or failed to load. */
import type { ComponentChildren } from 'preact'
import { changing, type RequestProblem, type Resource, statusWord } from '../model/index.ts'

export const Loading = ({ what }: { what: string }) => (
  <p class="state" role="status">
    Loading {what} …
  </p>
)

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="state">{children}</p>

/** `known`: older data is still shown below. */
export function Problem({ problem, known = false }: { problem: RequestProblem | undefined; known?: boolean }) {
  if (problem === undefined) return null
  return (
    <p class="state bad" role="alert">
      {problem.message}
      {known && ' Showing the last known data.'} <span class="code">{problem.code}</span>
    </p>
  )
}

interface AnswerProps<Value> {
  of: Resource<Value>
  /** Completes "Loading …". */
  what: string
  children: (value: Value) => ComponentChildren
}

/** The last answer, that it is awaited, or why there is none. */
export function Answer<Value>({ of: { value, problem }, what, children }: AnswerProps<Value>) {
  const known = value.value
  return (
    <>
      <Problem problem={problem.value} known={known !== undefined} />
      {known !== undefined ? children(known) : problem.value === undefined && <Loading what={what} />}
    </>
  )
}

/** Heading of a view, with optional content beside it. */
export const Heading = ({ title, children }: { title: ComponentChildren; children?: ComponentChildren }) => (
  <div class="heading">
    <h1 tabIndex={-1}>{title}</h1>
    {children}
  </div>
)

export const Section = ({ id, title, children }: { id: string; title: string; children: ComponentChildren }) => (
  <section aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
)

/** Of a list of facts. With an id it is a place that links lead to. */
export const Fact = ({ name, id, children }: { name: string; id?: string; children: ComponentChildren }) => (
  <div id={id} tabIndex={id === undefined ? undefined : -1}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

interface FigureProps {
  name: string
  note?: string
  bad?: boolean
  children: ComponentChildren
}

export const Figure = ({ name, note, bad = false, children }: FigureProps) => (
  <div class={bad ? 'bad' : undefined}>
    <dt>{name}</dt>
    <dd>
      {children}
      {note !== undefined && <small>{note}</small>}
    </dd>
  </div>
)

/** One line of a list of what is well and what is not. */
export const Finding = ({ tone, children }: { tone?: 'good' | 'warn' | 'bad' | 'plain'; children: ComponentChildren }) => (
  <li class={tone === undefined ? 'status' : `status ${tone}`}>
    <span>{children}</span>
  </li>
)

interface ChoiceProps {
  label: string
  /** What is chosen, before the links. */
  of?: string
  links: readonly (readonly [title: string, href: string, isShown: boolean])[]
}

/** Links to other forms of a view. */
export const Choice = ({ label, of, links }: ChoiceProps) => (
  <nav class="choice" aria-label={label}>
    {of !== undefined && <span class="aside">{of}:</span>}
    {links.map(([title, href, isShown]) => (
      <a key={title} href={href} aria-current={isShown ? 'true' : undefined}>
        {title}
      </a>
    ))}
  </nav>
)

const tones: Partial<Record<string, string>> = {
  ...{ ACTIVE: 'good', SUCCEEDED: 'good', active: 'good', RUNNING: 'busy', DISPATCHED: 'busy' },
  ...{ RETRY_WAIT: 'warn', WAITING: 'warn', PAUSED: 'warn', DRAINED: 'warn', DRAINING: 'warn', EXPIRED: 'warn' },
  ...{ SKIPPED: 'warn', restoring: 'warn', claiming: 'warn', DEAD: 'bad', FAILED: 'bad', INVALID: 'bad', closed: 'bad' },
}

/** `id`: of the job or the run. While an operation changes it, the status says so. */
export function Status({ of, id }: { of: string; id?: string }) {
  const change = id === undefined ? undefined : changing.value.get(id)
  if (change !== undefined) return <span class="status busy">{change}</span>
  return <span class={`status ${tones[of] ?? 'plain'}`}>{statusWord(of)}</span>
}
