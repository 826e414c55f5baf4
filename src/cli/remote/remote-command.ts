/** Common parts of the commands that use the API of a running Duelog. */
import { Command, Option } from 'commander'
import { counted, withoutEnd } from '../../../streams/text/index.ts'
import { settingByName, withoutUser, withSecretsOfFiles } from '../../config/index.ts'
import { DuelogError, messageOf } from '../../errors/index.ts'
import { pemOfFile, watchSignals } from '../../process/index.ts'
import { type Address, ApiClient } from '../../remote/index.ts'
import {
  exitCodeOf,
  exitCodes,
  jsonText,
  oneLine,
  painterOf,
  refusedOption,
  type Terminal,
  type TimeText,
  timeTextOf,
  writeAsJson,
} from '../terminal/index.ts'

export interface RemoteFlags {
  url?: string
  ca?: string
  json?: boolean
  utc?: boolean
}

/** Context of an action. */
export interface Shell {
  terminal: Terminal
  api: ApiClient
  json: boolean
  /** How it shows times without --json. */
  time: TimeText
  /** Sets an exit code other than 0. */
  exit(code: number): void
}

export interface CommandFrame {
  terminal: Terminal
  exit(code: number): void
}

const { default: urlDefault } = settingByName.get('DUELOG_URL') ?? {}

/** A command with --url, --json and --utc. `examples` are command lines without the program's name. */
export function remoteCommand(usage: string, description: string, examples: readonly string[]): Command {
  return withExamples(new Command(usage).description(description), examples)
    .addOption(new Option('--url <url>', `address of the API [DUELOG_URL, default ${urlDefault}]`))
    .addOption(new Option('--ca <file>', 'PEM file of the authorities that sign its certificate [DUELOG_CA_FILE]'))
    .addOption(new Option('--json', 'one line of JSON for each result'))
    .addOption(new Option('--utc', 'times in UTC, and not in the zone of this machine'))
    .addOption(refusedOption('DUELOG_TOKEN'))
}

/** For commands that read; staleQueryOf gives its query parameter. */
export const staleOption = (): Option =>
  new Option('--stale', 'if no owner answers, show the data of a standby; a note says how far it is behind')

export const staleQueryOf = ({ stale }: { stale?: boolean }): { stale?: string } => (stale === true ? { stale: 'true' } : {})

/** For commands that change a job or a run; idempotencyOf gives its header. */
export const idempotencyOption = (): Option =>
  new Option('--idempotency-key <key>', 'a repeated request with the same key has no further effect and gives the first answer')

export const idempotencyOf = ({ idempotencyKey: key }: { idempotencyKey?: string }): Record<string, string> =>
  key === undefined ? {} : { 'idempotency-key': key }

export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  duelog ${line}\n`).join('')}`)
}

/** Runs an action with the API that the flags name; the first signal aborts it. */
export async function remotely(
  { terminal, exit }: CommandFrame,
  flags: RemoteFlags,
  action: (shell: Shell) => Promise<void>,
): Promise<void> {
  const address = addressOf(terminal.env, flags)
  const signals = watchSignals()
  try {
    const api = new ApiClient(address, signals.stop)
    await action({ terminal, api, json: flags.json ?? false, time: timeTextOf(flags.utc ?? false), exit })
    for (const [partition, behind] of api.stale)
      terminal.stderr.write(
        Number.isFinite(behind)
          ? `Partition ${partition} was read from a standby that is ${counted(behind, 'record')} behind.\n`
          : `Partition ${partition} was read from an owner that may have been replaced.\n`,
      )
  } catch (error) {
    if (signals.exitCode === undefined) throw error
    exit(signals.exitCode)
  } finally {
    signals.dispose()
  }
}

function addressOf(env: Terminal['env'], { url: flag, ca }: RemoteFlags): Address {
  const given = flag ?? (env.DUELOG_URL || urlOfPort(env.DUELOG_HTTP_PORT))
  const url = URL.parse(given)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '') {
    const place = flag === undefined ? 'DUELOG_URL' : '--url'
    throw new DuelogError(
      'bad-usage',
      `${place} is ${JSON.stringify(withoutUser(given))}. Use an address such as ${urlDefault}, and put the token into DUELOG_TOKEN.`,
    )
  }
  const place = { url: `${url.origin}${withoutEnd(url.pathname, '/')}`, givenBy: '--url or DUELOG_URL' }
  return { ...place, token: tokenOf(env), ca: authoritiesOf(env, ca) }
}

function authoritiesOf({ DUELOG_CA_FILE }: Terminal['env'], flag: string | undefined): string | undefined {
  const file = flag ?? (DUELOG_CA_FILE || undefined)
  if (file === undefined) return undefined
  try {
    return pemOfFile(file)
  } catch (cause) {
    const place = flag === undefined ? 'DUELOG_CA_FILE' : '--ca'
    throw new DuelogError('bad-usage', `${place} is ${JSON.stringify(file)}, which cannot be read (${messageOf(cause)}).`, {
      cause,
    })
  }
}

/** Of a Duelog that was started on this machine with the same environment. */
function urlOfPort(port = ''): string {
  return /^[1-9]\d{0,4}$/.test(port) ? `http://127.0.0.1:${port}` : String(urlDefault)
}

function tokenOf({ DUELOG_TOKEN, DUELOG_TOKEN_FILE }: Terminal['env']): string | undefined {
  const { values, problems } = withSecretsOfFiles({
    ...(DUELOG_TOKEN && { DUELOG_TOKEN }),
    ...(DUELOG_TOKEN_FILE && { DUELOG_TOKEN_FILE }),
  })
  if (problems.length > 0) throw new DuelogError('bad-config', problems.join(' '))
  return values.DUELOG_TOKEN
}

export interface Done {
  /** Printed by --json besides the name. */
  facts: object
  /** Printed after the name without --json. */
  text: string
}

/** Runs a command for several jobs or runs. An error of one does not stop the others, and is printed with its name. `names` are IDs; `field` is their key in --json. Rejects when the server becomes unreachable. */
export async function forEach(
  shell: Shell,
  field: 'id' | 'runId' | 'pool' | 'worker',
  names: readonly string[],
  act: (name: string) => Promise<Done>,
): Promise<void> {
  const { terminal, json, exit } = shell
  const paint = painterOf(terminal.stderr, terminal.env)
  const codes = new Set<number>()
  for (const name of names) {
    try {
      const { facts, text } = await act(name)
      terminal.stdout.write(
        json ? jsonText({ [field]: name, ok: true, ...facts }, terminal.stdout) : `${oneLine(`${name} ${text}`)}\n`,
      )
    } catch (error) {
      // With a single name, its error is the error of the command.
      if (!(error instanceof DuelogError) || error.code === 'unreachable' || (names.length === 1 && !json)) throw error
      codes.add(exitCodeOf(error))
      const { code, message: detail, retriable } = error
      if (json) writeAsJson(terminal.stdout, { [field]: name, ok: false, code, detail, retriable })
      else terminal.stderr.write(`${paint('red', 'failed')} ${oneLine(`${name}: ${detail}`)}\n`)
    }
  }
  const [code] = codes
  if (code !== undefined) exit(codes.size === 1 && names.length === 1 ? code : exitCodes.failed.code)
}
