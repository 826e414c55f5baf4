/** docs/CONFIGURATION.md: every setting of schemas/config.json. */
import { flagOf, type Setting, settings } from '../../src/ground/config/settings.ts'
import { code, heading, numberText, page, table } from './markdown.ts'

export function configurationPage(): string {
  const rows = settings.map((setting) => [
    code(setting.name),
    setting.client === true || setting.secret === true ? '—' : code(flagOf(setting)),
    defaultOf(setting),
    allowedOf(setting),
    setting.secret
      ? `${setting.description} Secret: it appears in no message and no log. It has no flag, because other users of a machine can read command lines.`
      : setting.description,
  ])
  return page(
    heading(
      'Configuration',
      'schemas/config.json',
      'Each setting is an environment variable. All except secrets are also flags of `duelog up`. A flag takes precedence. A secret may be in a file that `<name>_FILE` names, as is usual in containers: its content without the line end, at most 64 KiB. It may be a pipe, such as `<(vault read …)` of a shell, which must be written to its end within 10 s; but not if a change takes effect later, because a pipe can be read only once. An unknown `DUELOG_…` name, a value that is not allowed, or two settings that contradict each other prevent the start; one sentence names them.',
    ),
    table(['Name', 'Flag', 'Default', 'Allowed', 'Meaning'], rows),
    [
      '## Notes',
      '',
      '- *cluster* is the default if `KAFKA_BROKERS` is set. The other default is for the embedded broker.',
      '- `DUELOG_PARTITIONS` is used at the first start only. Later the existing topics decide. A different value is reported and ignored.',
      '- JSON Web Tokens need `DUELOG_JWT_JWKS_URL`, `DUELOG_JWT_ISSUER` and `DUELOG_JWT_AUDIENCE` together, and `DUELOG_API_TOKENS` too, because the processes of one system call each other with a token from it. [API](API.md#who-may) says what a JSON Web Token must hold.',
      '- Without `DUELOG_API_TOKENS` the server binds to loopback only and refuses requests that a web page of another origin could have sent.',
      '- `DUELOG_URL` and `DUELOG_TOKEN` are read by the commands that ask a running Duelog, see [CLI](CLI.md). `duelog up` does not use them.',
      '- `DUELOG_API_TOKENS` protect only the HTTP API. The embedded broker and registry listen on loopback without a password, so every program on this machine can bypass the tokens. The log says so at the start. If others use the machine, set `KAFKA_BROKERS` and `SCHEMA_REGISTRY_URL` to servers with a password.',
      '- The embedded registry runs while it is used. It ends after a minute without a call, and the next call starts it: that takes 3 to 6 s, on a busy machine longer, and after 30 s the call gets 503 and may ask again. It takes 128 calls at the same time, and bodies of 4 MiB. Duelog knows the ids of its schemas from the second start on, so jobs fire before the registry is up.',
      '- The data folder belongs to the user of the process. Its folders have mode 0700, its files 0600. Files of stores have the mode of the umask, inside a folder that no other user can enter. A folder that existed before, with other content, keeps its mode; the folders and files that Duelog puts into it are still closed to others.',
      '- Every process serves HTTP, in any role, for probes, metrics and the queries of other processes.',
    ].join('\n'),
  )
}

function defaultOf({ default: value, defaultCluster }: Setting): string {
  if (value === undefined) return '—'
  const text = typeof value === 'number' ? plain(value) : code(String(value))
  return defaultCluster === undefined ? text : `${text}; cluster ${plain(defaultCluster)}`
}

function allowedOf({ type, enum: symbols, minimum, maximum, unit, pattern }: Setting): string {
  if (symbols !== undefined) return symbols.map(code).join(', ')
  if (type === 'boolean') return '`true`, `false`'
  if (type === 'integer') return `${plain(minimum ?? 0)} to ${plain(maximum ?? Number.MAX_SAFE_INTEGER)}${unit ? ` ${unit}` : ''}`
  return pattern === undefined ? 'text' : code(pattern)
}

/** Ports and counts below 100,000 are written as they are typed. */
const plain = (value: number): string => (value < 100_000 ? String(value) : numberText(value))
