/** Placeholders for data that is loading, empty or failed to load, and the heading of a view. */
import type { ComponentChildren } from 'preact'
import type { RequestProblem } from '../model/index.ts'

export function Loading({ what }: { what: string }) {
  return (
    <p class="state" role="status">
      Loading {what} …
    </p>
  )
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="state">{children}</p>
}

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

/** Heading of a view, with optional content beside it. */
export function Heading({ title, children }: { title: ComponentChildren; children?: ComponentChildren }) {
  return (
    <div class="heading">
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </div>
  )
}
