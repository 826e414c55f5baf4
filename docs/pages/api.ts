/** docs/API.md: the routes, from the description that the API gives of itself. */

import { createApi } from '../../src/api/api.ts'
import { harmlessHeaders } from '../../src/api/http/redact.ts'
import type { OpenApiDocument } from '../../src/api/openapi/document.ts'
import {
  bodiesMax,
  bodiesPerCallerMax,
  connectionsMax,
  refusedSignInsInAllMax,
  refusedSignInsInAllPerSecond,
  refusedSignInsMax,
  refusedSignInsPerSecond,
  unreadCharsMax,
} from '../../src/api/schemas/limits.ts'
import { code, heading, page, table } from './markdown.ts'

interface Operation {
  summary: string
  description: string
  tags: string[]
  parameters?: { name: string; in: string }[]
}

/** Of routes that are registered and never called; what they are given is not looked at. */
const { instance } = createApi({} as Parameters<typeof createApi>[0])
const document: OpenApiDocument = (await instance.inject('/openapi.json')).json()
await instance.close()

const clientsInOtherLanguages = [
  '## Clients in other languages',
  '',
  'Generators of typed clients take `/openapi.json`. `npm test` makes clients with openapi-generator 7.25 for Python, Go, Java and TypeScript, builds them, and has them write, read, list, trigger and wait (`test/generated-clients`; its `round-trips` are examples of their use):',
  '',
  '```sh',
  'curl -s localhost:8080/openapi.json > duelog.json',
  'java -jar openapi-generator-cli.jar generate -g python -i duelog.json -o client   # or go, java, typescript-fetch',
  '```',
  '',
  '- Give the client the address of the API as its host or base path, and the token as its access token (bearer).',
  '- A time in a request is an `Instant`: text in ISO 8601, or epoch ms in 64 bits. Answers have text.',
  '- Every refusal is a `Problem`; go by its `code`, and by `retriable`. Python has it as `data` of the exception and Go as `Model()` of the error; in Java and TypeScript it is read from the body.',
  '- A batch is bytes on both ways, and in a generated client one request: its answer comes when all lines are sent, so keep a batch to some thousands of lines. `/v1/events` does not end and is nothing for such a client.',
  '- Clients in Java and Python refuse values of a list (`status`, `code`) that a later release has added. Make them anew when you upgrade Duelog, before its processes are.',
  '- To run jobs in another language needs no HTTP client: see [the worker protocol](PROTOCOL.md).',
]

export function apiPage(): string {
  const groups = document.tags.map(({ name, description }) => {
    const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, found]) => {
        const { tags, summary, description: said, parameters = [] } = found as unknown as Operation
        if (!tags.includes(name)) return []
        const asked = parameters.filter((parameter) => parameter.in === 'query').map((parameter) => code(parameter.name))
        const role = /Least role: (\w+)\.$/.exec(said)?.[1] ?? '—'
        return [[code(`${method.toUpperCase()} ${path}`), summary, asked.join(' '), role]]
      }),
    )
    return [`### ${name}`, description, table(['Route', 'Does', 'Query', 'Role'], rows)].join('\n\n')
  })
  return page(
    heading(
      'HTTP API',
      'the routes in src/api',
      '`GET /openapi.json` is the whole description (OpenAPI 3.1, made from the very schemas that check the requests; see [clients](#clients-in-other-languages)), and `/docs` shows it in a browser without the internet. Errors are problem details (RFC 9457) with a stable [code](ERRORS.md).',
    ),
    '## Routes',
    ...groups,
    [
      '## Reading what was written',
      '',
      '- A write is answered when it is durable in the log. `?wait=applied` answers when the owner has applied it, and with 202 and `wait-timeout` when that took more than 5 s.',
      '- A read sees what was written through the same process before it.',
      '- Commands (trigger, pause, resume, cancel, backfill, redrive) take `Idempotency-Key`: 1 to 255 visible ASCII characters of your choice. A repeat of the same command to the same job or run does nothing more and answers as the first did, with the same `runId`; so a request whose answer was lost can be sent again. It is known as long as the command is one of the last 32 that the job took, or its run is active or the last. `runId` is null once the run is no longer kept. The first counts, whatever payload the repeat has.',
      '- `POST /v1/jobs` takes `Idempotency-Key` too: a repeat with the same key and definition makes no second job as long as the first is there, and is answered with 200. All other writes may be repeated as they are: `PUT`, `DELETE` and each line of a batch name their job, and `POST /v1/dead-letters/redrive` makes no run of one dead run twice; sent again it goes on with those that are left, so give `max` where that matters.',
      '- The ETag of a job is the place of its definition, `"<partition>.<offset>"`. `If-Match` holds against every writer, also against other API processes and Kafka clients: the condition travels with the record, and the owner judges it in the order of the log. Such a write is always answered after the owner has judged it; 202 says that it has not yet.',
      '- While a partition has no active owner, for example because it restores or was given to another process, or because its owner has heard nothing from the group for a session timeout, its jobs answer 503 with `Retry-After`.',
      '- With `?stale=true` reads of jobs and runs are then answered from a copy: that of a standby, or what a restoring owner has so far. The header `Duelog-Stale: 3;behind=120` names the partition and how many records of the logs its copy lacks, as far as its process knows; lists also have `stale` in the body. `behind=unknown`, in lists null, says that a process answered which owned the partition and may have been replaced. There is no ETag header. While the owner answers nothing changes, and no write takes the parameter. A job that the copy does not know yet is answered with 404 and the header. `GET /v1/partitions` shows the standbys.',
      '- Lists go to all owners and come back in the order of ids; `cursor` asks for the next page.',
      '',
      '## Looking ahead',
      '',
      '- `POST /v1/jobs/plan` tells of each definition whether writing it would create, update or change nothing, or be dropped, and which times would be added, removed and moved. The core that owners run computes it.',
      '- `GET /v1/forecast`: `next` counts each job whose next occurrence is due in a step, exactly, from the time index of its owner, up to `until`. `later` counts what the same jobs have after it: computed from the definitions where they are few, else from a sample that stands for all; `estimate` says which.',
      '',
      '## Who may',
      '',
      '- Without `DUELOG_API_TOKENS` and `DUELOG_JWT_JWKS_URL`: this machine only, and no web page but those of the very server that is asked, by name and port.',
      '- Tokens: `role:token` or `role.name:token`. JSON Web Tokens: signed by a key of the JWKS with an asymmetric algorithm, with issuer, audience, subject and end, and a role in the claim `DUELOG_JWT_ROLES_CLAIM`. A subject that is empty, no plain text on one line, or a name that the audit trail has for others (`local`, a role, that of a token) is refused with `forbidden`.',
      `- Of one address ${refusedSignInsMax} different wrong tokens are looked at, and one every ${1 / refusedSignInsPerSecond} s after that; of all addresses ${refusedSignInsInAllMax}, and ${refusedSignInsInAllPerSecond} a second. Beyond it new tokens are answered with 429 unseen, right ones too; those that were accepted from their address before are still taken. The log has one line, then a count each minute.`,
      '- viewer reads, operator also writes jobs and commands, admin also reads the audit trail.',
      `- A viewer is shown of headers, URLs and answers of servers only what is known to be harmless: the values of the headers ${[...harmlessHeaders].map((name) => `\`${name}\``).join(', ')}; of the URL of an http target scheme, host and port; of what its server answered the status. In place of all else stands \`***\`, also where a handler's own words repeat it. A viewer's plan does not compare what is hidden, and names the fields in \`hidden\`. Payloads, keys, tags and the words of handlers are shown: put no secret there. A definition with such a mask is refused where it is written.`,
      '- One caller may send `DUELOG_HTTP_RATE_LIMIT` requests a second; beyond that 429 with `Retry-After`.',
      `- Where ${connectionsMax.toLocaleString('en')} connections are open a new one takes the place of another: of the address that has most, and first of one without a request. Requests whose bodies are still coming are at most ${bodiesMax.toLocaleString('en')}, ${bodiesPerCallerMax} of one caller and ${bodiesPerCallerMax} of all viewers; beyond that 503. Answers that nobody reads hold ${unreadCharsMax / 1024 / 1024} million characters at most; beyond that connections are closed. Lists, plans and forecasts have their turn by caller, and are answered with 503 where it does not come within half a minute.`,
      '',
      '## Audit trail',
      '',
      'Every request for a change by somebody who is known, carried out or refused, is on the topic `audit` before its answer goes out: who, when, what, which job, and what came of it, without payloads, headers and tokens. A batch is one record with its counts. `GET /v1/audit` shows the latest.',
      '',
      '## Many jobs',
      '',
      '`POST /v1/jobs/batch` takes a definition on each line and answers each with a line, in order, while the request still goes on. Read the answer while you send: the server reads on only as fast as its answers are taken, so its memory does not grow with the number of lines.',
      '',
      ...clientsInOtherLanguages,
    ].join('\n'),
  )
}
