/** The methods of a path, for a request with another one. */
import type { RouteOptions } from 'fastify'

/** Sorted; empty if no route has this path. `path` is as in the URL, without the query. */
export function allowedMethods(routes: readonly Pick<RouteOptions, 'url' | 'method'>[], path: string): string[] {
  const parts = path.split('/')
  const found = routes.filter(({ url }) => hasForm(url.split('/'), parts)).flatMap(({ method }) => method)
  return [...new Set(found)].sort()
}

/** `:name` stands for one part, and `*` at the end for all that follow. */
function hasForm(form: readonly string[], parts: readonly string[]): boolean {
  const isOpen = form.at(-1) === '*'
  if (isOpen ? parts.length < form.length : parts.length !== form.length) return false
  return form.every((part, at) => part === '*' || (part.startsWith(':') ? parts[at] !== '' : part === parts[at]))
}
