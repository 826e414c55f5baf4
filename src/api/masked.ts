/** Definitions for eyes that may only look: what opens doors elsewhere is not shown to them. */

/** Names of headers whose values are credentials by custom. */
const credential = /^(authorization|proxy-authorization|cookie|.*(api-?key|token|secret|password).*)$/i
export const mask = '***'

/** The definition in JSON, with a mask for the values of such headers, its own and those of its http target. */
export function masked(definition: Record<string, unknown>): Record<string, unknown> {
  const { headers, target } = definition as { headers?: Headers; target?: { http?: { headers?: Headers } } }
  const http = target?.http
  return {
    ...definition,
    ...(headers !== undefined && { headers: maskedHeaders(headers) }),
    ...(http?.headers !== undefined && { target: { ...target, http: { ...http, headers: maskedHeaders(http.headers) } } }),
  }
}

type Headers = Record<string, unknown>

const maskedHeaders = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, credential.test(name) ? mask : value]))
