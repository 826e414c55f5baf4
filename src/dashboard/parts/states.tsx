/** What stands in place of a list that is on its way, empty, or could not be had. */
import type { ComponentChildren } from 'preact'
import type { RequestProblem } from '../model/index.ts'

export function Loading({ what }: { what: string }) {
  return (
    <p class="state" role="status">
      Asking for {what} …
    </p>
  )
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="state">{children}</p>
}

/** `known`: something older is still shown below. */
export function Problem({ problem, known = false }: { problem: RequestProblem | undefined; known?: boolean }) {
  if (problem === undefined) return null
  return (
    <p class="state bad" role="alert">
      {problem.message}
      {known && ' What is shown is what was known before.'} <span class="code">{problem.code}</span>
    </p>
  )
}

/** Heading of a view, with what belongs beside it. */
export function Heading({ title, children }: { title: ComponentChildren; children?: ComponentChildren }) {
  return (
    <div class="heading">
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </div>
  )
}
