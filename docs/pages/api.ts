/** docs/API.md: the routes, from the description that the API gives of itself. */

import { harmlessHeaders } from '../../src/server/api/http/redact.ts'
import {
  bodiesMax,
  bodiesPerCallerMax,
  bodyReceiveMs,
  connectionIdleMs,
  connectionsMax,
  headersReceiveMs,
  refusedSignInsInAllMax,
  refusedSignInsInAllPerSecond,
  refusedSignInsMax,
  refusedSignInsPerSecond,
  runWaitMsDefault,
  runWaitMsMax,
  runWaitsMax,
  runWaitsPerCallerMax,
  unreadCharsMax,
} from '../../src/server/api/schemas/limits.ts'
import { code, heading, page, table } from './markdown.ts'
import { openApiDocument as document } from './openapi.ts'

interface Operation {
  summary: string
  description: string
  tags: string[]
  parameters?: { name: string; in: string }[]
}

const clientsInOtherLanguages = [
  '## Clients in other languages',
  '',
  'Generators of typed clients read `/openapi.json`. `npm run test:long` generates clients for Python, Go, Java and TypeScript with openapi-generator 7.25, builds them, and lets them write, read, list, trigger and wait (`test/generated-clients`; its `round-trips` are examples):',
  '',
  '```sh',
  'curl -s localhost:8080/openapi.json > duelog.json',
  'java -jar openapi-generator-cli.jar generate -g python -i duelog.json -o client   # or go, java, typescript-fetch',
  '```',
  '',
  '- Give the client the address of the API as its host or base path, and the token as its access token (bearer).',
  '- A time in a request is an `Instant`: text in ISO 8601, or epoch ms in 64 bits. Answers have text.',
  '- Every refusal is a `Problem`. Use its `code` and `retriable`. Python has it as `data` of the exception, Go as `Model()` of the error. In Java and TypeScript, read it from the body.',
  '- A batch is bytes in both directions, and one request in a generated client. Its answer comes when all lines are sent, so limit a batch to some thousands of lines. `/v1/events` does not end and is not for such a client.',
  '- Clients in Java and Python refuse enum values (`status`, `code`) that a later release has added. Generate them again when you upgrade Duelog, before you upgrade its processes.',
  '- A worker in another language needs no HTTP client: see [the worker protocol](PROTOCOL.md).',
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
      'the routes in src/server/api',
      '`GET /openapi.json` is the whole description in OpenAPI 3.1, made from the same schemas that check the requests (see [clients](#clients-in-other-languages)). `/docs` shows it in a browser and needs no internet access. Errors are problem details (RFC 9457) with a stable [code](ERRORS.md).',
    ),
    '## Routes',
    ...groups,
    [
      '## Reads and writes',
      '',
      '- A write is answered when it is durable in the log, and asks no owner: it is taken while none answers, too ([ADR 0130](adr/0130-a-write-without-a-condition-asks-nobody.md)). So a `PUT` without a condition is answered with 200, whether it created or replaced the job; with `If-None-Match: *` it creates, with 201. A `DELETE` of a job that does not exist gets 404, or 204 if no owner answers. With `?wait=applied` it is answered when the owner has applied it, or with 202 and `wait-timeout` after 5 s.',
      `- With \`?wait=ended\`, \`PUT /v1/jobs/{id}\`, \`POST /v1/jobs\`, a trigger and a redrive are answered when the run has ended, and have it in \`run\`: of a definition the first run that ends of it or of a later one, of a command the run that it made. \`timeoutMs\` is ${runWaitMsDefault.toLocaleString('en-US')} by default and ${runWaitMsMax.toLocaleString('en-US')} at most; then the answer is 202 with \`wait-timeout\`. If no run can come, \`run\` is null and \`reason\` says why: the job is INVALID, was deleted, or is COMPLETED without a run.`,
      `- \`GET /v1/jobs/{id}/result\` waits for a run that was made before, by \`runNo\`, \`commandId\` or the \`etag\` of the definition. The answer has \`ended\`. If it is false, send the request again. The owner tells when the end comes; if the partition moves meanwhile, the next owner is asked. One process holds at most ${runWaitsMax.toLocaleString('en-US')} such waits, ${runWaitsPerCallerMax.toLocaleString('en-US')} of one caller; a further one gets 503 ([ADR 0087](adr/0087-a-caller-waits-at-the-owner.md)).`,
      '- A read sees all earlier writes through the same process, those of a batch too. While their owner has not applied them, a job that is not there yet gets 503, never 404.',
      '- Commands (trigger, pause, resume, cancel, backfill, redrive) take `Idempotency-Key`: 1 to 255 visible ASCII characters of your choice. A repeat of the same command to the same job or run does nothing and gets the same answer as the first, with the same `runId`. So you can send a request again if its answer was lost. A repeat is recognized as long as the command is one of the last 32 of the job, or its run is active or the last one. `runId` is null when the run is no longer kept. The payload of the first request counts, not that of the repeat.',
      '- `POST /v1/jobs` takes `Idempotency-Key` too: a repeat with the same key and definition is answered with 200 and makes no second job as long as the first exists. All other writes may be repeated as they are. `PUT`, `DELETE` and each line of a batch name their job. `POST /v1/operations` redrives what was dead when it began.',
      '- The ETag of a job is the offset of its definition, `"<partition>.<offset>"`. `If-Match` protects against every writer, including other API processes and Kafka clients. The condition is part of the record, and the owner checks it in the order of the log. Such a write is answered after the owner has checked it; 202 says that it has not done so yet. `If-None-Match: *` writes only a job that does not exist.',
      '- `warnings` in the answer to a write name what is allowed but probably not meant: a cycle of `onSuccess` and `onFailure`, or a `concurrencyKey` or `rateLimit` of a job whose id has no `{tag}`. The jobs of such a key are in several partitions, and each partition counts its own.',
      '- While a partition has no active owner, reads of its jobs, commands and writes with a condition are answered with 503 and `Retry-After`. Examples: the partition restores, it moves to another process, or its owner has had no answer from the group for a session timeout.',
      '- Other JSON answers to GET from 512 characters on have a weak ETag, a hash of the answer. A caller that sends it as `If-None-Match` gets 304 without a body while nothing has changed.',
      '- With `?stale=true`, reads of jobs and runs are then answered from a copy. This is the copy of a standby, or the part that a restoring owner has read so far. The header `Duelog-Stale: 3;behind=120` names the partition and the number of records that the copy lacks, as far as its process knows. Lists also have `stale` in the body. `behind=unknown` (null in lists) means that the answer comes from a former owner that may have been replaced. There is no ETag header. A job that the copy does not know yet gets 404 with the header. While the owner answers, the parameter has no effect. Writes do not take it. `GET /v1/partitions` shows the standbys.',
      '- Lists ask all owners and are sorted by id. `cursor` asks for the next page.',
      '',
      '## Looking ahead',
      '',
      '- `POST /v1/jobs/plan` says for each definition what a write would do: create, update, change nothing, or be dropped. It also says which times would be added, removed and moved. The same code as in owners computes it.',
      '- `GET /v1/forecast`: `next` is the exact number of jobs whose next occurrence is due in a step, from the time indexes of the owners, up to `until`. `later` counts the further occurrences of the same jobs. For few jobs it is computed from the definitions, otherwise from a sample; `estimate` says which.',
      '- `GET /v1/forecast/jobs`: the jobs with occurrences in a range, each with its first one and their number. It reads as much as a forecast: of more than 2,000 jobs in a partition it looks at those whose next occurrence is in the range, then at those that are due soonest. `complete` is false if it could not look at all.',
      '',
      '## Who may',
      '',
      '- Without `DUELOG_API_TOKENS` and `DUELOG_JWT_JWKS_URL`: only this machine may call, and only web pages of this same server, by name and port.',
      '- Tokens: `role:token` or `role.name:token`. JSON Web Tokens: signed by a key of the JWKS with an asymmetric algorithm, with issuer, audience, subject and end, and a role in the claim `DUELOG_JWT_ROLES_CLAIM`. Some subjects are refused with `forbidden`: an empty one, one that is not plain text on one line, and a name that the audit trail uses for others (`local`, a role, the name of a token).',
      `- Wrong tokens are limited. From one address ${refusedSignInsMax} different ones are checked, then one every ${1 / refusedSignInsPerSecond} s. From all addresses together ${refusedSignInsInAllMax} are checked, then ${refusedSignInsInAllPerSecond} a second. Beyond that, all new tokens get 429 without a check, even right ones. A token that was accepted from its address before still works. The log has one line, then a count each minute.`,
      '- viewer reads, operator also writes jobs and commands and reads the audit trail. admin may do the same as operator.',
      `- Headers, URLs and server answers are redacted for viewers. They see the values of the headers ${[...harmlessHeaders].map((name) => `\`${name}\``).join(', ')}; scheme, host and port of the URL of an http target; and the status of its server's answer. Everything else is shown as \`***\`, even if a message of a handler repeats it. A viewer's plan does not compare redacted values, and names the fields in \`hidden\`. Payloads, keys, tags and messages of handlers are shown, so put no secret there. A definition that contains \`***\` in such a place is refused.`,
      '- One caller may send `DUELOG_HTTP_RATE_LIMIT` requests a second; beyond that 429 with `Retry-After`. Probes, pages and unknown paths count for the address. A connection that ignores this is closed.',
      '- Pipelining is refused: if a request comes before the answer to the one before it, the connection is closed after that answer.',
      `- The headers of a request must arrive within ${headersReceiveMs / 1_000} s, the body of a single request within ${bodyReceiveMs / 1_000} s. A connection without a request is closed after ${connectionIdleMs / 1_000} s.`,
      `- At most ${connectionsMax.toLocaleString('en')} connections are open. A further one replaces a connection of the address that has most connections. A connection without a request is replaced first. At most ${bodiesMax.toLocaleString('en')} requests may have incomplete bodies, at most ${bodiesPerCallerMax} of one caller and ${bodiesPerCallerMax} of all viewers. Beyond that, requests get 503. Unread answers hold at most ${unreadCharsMax / 1024 / 1024} million characters. Beyond that, connections are closed. Lists, plans and forecasts are queued fairly by caller, and get 503 after half a minute.`,
      '',
      '## Audit trail',
      '',
      'Every request for a change by a known caller, executed or refused, is written to the topic `audit` before it is answered: who, when, what, which job, the result, and each field of a definition before and after, without payloads, credentials and tokens. A `PUT` without a condition has the fields that it wrote, without what was there before. A batch is one record with its counts and its first 1,000 jobs; an operation one with its filter or its jobs. `GET /v1/audit` and `duelog audit list` show the latest. Records that a producer writes to the topic `jobs` are not in the trail.',
      '',
      '## Many jobs',
      '',
      '`POST /v1/jobs/batch` takes one definition per line and answers each with a line, in order, while the request continues. Read the answer while you send: the server reads only as fast as its answers are read, so its memory does not grow with the number of lines.',
      '',
      ...clientsInOtherLanguages,
    ].join('\n'),
  )
}
