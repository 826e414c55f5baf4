/** docs/CONFIGURATION.md: every setting of schemas/config.json. */
import { flagOf } from '../../src/config/flags.ts'
import { type Setting, settings } from '../../src/config/settings.ts'
import { code, heading, numberText, page, table } from './markdown.ts'

export function configurationPage(): string {
  const rows = settings.map((setting) => [
    code(setting.name),
    setting.client === true || setting.secret === true ? '—' : code(flagOf(setting)),
    defaultOf(setting),
    allowedOf(setting),
    setting.secret
      ? `${setting.description} Secret: it appears in no message and no log, and has no flag, because other users of a machine can read command lines.`
      : setting.description,
  ])
  return page(
    heading(
      'Configuration',
      'schemas/config.json',
      'Each setting is an environment variable and, but for secrets, a flag of `duelog up`; a flag wins. A secret may stand in a file that `<name>_FILE` names, as containers have them. An unknown `DUELOG_…` name, a value that is not allowed, or two settings that contradict one another stop the start with one sentence that names them.',
    ),
    table(['Name', 'Flag', 'Default', 'Allowed', 'Meaning'], rows),
    [
      '## Notes',
      '',
      '- *cluster* is the default where `KAFKA_BROKERS` is set; the other one is that of the embedded broker.',
      '- `DUELOG_PARTITIONS` counts at the first start only. Later the topics that exist decide, and a value that was given and differs is reported and ignored.',
      '- JSON Web Tokens need `DUELOG_JWT_JWKS_URL`, `DUELOG_JWT_ISSUER` and `DUELOG_JWT_AUDIENCE` together, and `DUELOG_API_TOKENS` as well: the processes of one system ask one another with a token of it. [API](API.md#who-may) says what such a token must hold.',
      '- Without `DUELOG_API_TOKENS` the server binds to loopback only and refuses requests that a web page of another origin could have sent.',
      '- `DUELOG_URL` and `DUELOG_TOKEN` are read by the commands that ask a running Duelog, see [CLI](CLI.md); `duelog up` has no use for them.',
      '- `DUELOG_API_TOKENS` guard the HTTP API alone. The embedded broker and registry listen on loopback and take no password: every program on this machine can go around the tokens by them, and the start says so in the log. Where others use the machine, set `KAFKA_BROKERS` and `SCHEMA_REGISTRY_URL` to some that ask for one.',
      '- From the second start on Duelog is ready before its embedded registry is, as it knows the ids of its schemas: jobs fire, and other clients can ask the registry some seconds later, on a busy machine half a minute.',
      '- The data folder is for the user that Duelog runs as: its folders have mode 0700, what is written for it 0600. The files of stores keep the mode that the umask gives them, inside a folder that nobody else enters. A folder that was there before, with other things in it, keeps its own mode; what Duelog puts into it is closed all the same.',
      '- Every process serves HTTP, whatever its roles, because probes, metrics and the questions of other processes go there.',
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
