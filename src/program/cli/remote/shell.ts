/** What commands share: their examples and options, the API of a running Duelog, lists and tables, and changes of several things. */
import { type Command, Option } from 'commander'
import { counted, withoutEnd } from '../../../../streams/text/index.ts'
import { type Address, ApiClient } from '../../../clients/remote/index.ts'
import { type Api, pagesOf } from '../../../ground/answers/index.ts'
import { settingByName, withoutUser, withSecretsOfFiles } from '../../../ground/config/index.ts'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import { pemOfFile, watchSignals } from '../../../ground/process/index.ts'
import {
  type Cell,
  exitCodeOf,
  exitCodes,
  hasReader,
  jsonText,
  numberText,
  oneLine,
  type Paint,
  painterOf,
  refusedOption,
  type Terminal,
  type TimeText,
  tableText,
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
  api: Api
  client: ApiClient
  json: boolean
  /** Colors and times of what it shows without --json. */
  paint: Paint
  time: TimeText
  /** Sets an exit code other than 0. */
  exit(code: number): void
}

/** What the actions of commands have in common. */
export interface CommandFrame {
  terminal: Terminal
  exit(code: number): void
  /** All commands. */
  program(): Command
}

/** A command as data; program.ts makes it. */
export interface CommandPlan {
  name: string
  description: string
  /** Command lines without the program's name. */
  examples?: readonly string[]
  options?: readonly Option[]
  /** Arguments and their descriptions. */
  args?: Readonly<Record<string, string>>
  /** Of its only argument. */
  choices?: readonly string[]
  commands?: readonly CommandPlan[]
  /** For scripts: it is not in the help, and takes any words. */
  isHidden?: boolean
  /** `words`: the arguments, then the flags. */
  run?(frame: CommandFrame, ...words: never[]): unknown
}

const { default: urlDefault } = settingByName.get('DUELOG_URL') ?? {}

/** A command that asks a running Duelog: with --url, --ca, --json and --utc. */
export const remoteCommand = <Words extends readonly unknown[]>({
  options = [],
  run,
  ...plan
}: Omit<CommandPlan, 'run'> & { run(shell: Shell, ...words: Words): unknown }): CommandPlan => ({
  ...plan,
  options: [
    new Option('--url <url>', `address of the API [DUELOG_URL, default ${urlDefault}]`),
    new Option('--ca <file>', 'PEM file of the authorities that sign the certificate of the API [DUELOG_CA_FILE]'),
    jsonOption('one line of JSON for each result'),
    new Option('--utc', 'times in UTC, and not in the zone of this machine'),
    refusedOption('DUELOG_TOKEN'),
    ...options,
  ],
  run: (frame, ...words: unknown[]) =>
    withShell(frame, words.at(-1) as RemoteFlags, (shell) => run(shell, ...(words as unknown as Words))),
})

/** A command that only has commands. */
export const groupOf = (name: string, description: string, commands: readonly CommandPlan[]): CommandPlan => ({
  ...{ name, description, commands },
})

export const jsonOption = (description: string): Option => new Option('--json', description)

/** For commands that read. */
export const staleOption = (): Option =>
  new Option('--stale', 'if no owner answers, show the data of a standby; a note says how far it is behind')

/** For commands that change a job or a run. */
export const idempotencyOption = (): Option =>
  new Option('--idempotency-key <key>', 'a repeated request with the same key has no further effect and gives the first answer')

const filterTexts = {
  tag: ['--tag <tag>', 'with this tag'],
  handler: ['--handler <name>', 'with this handler'],
  idPrefix: ['--id-prefix <text>', 'whose ID begins with this text'],
  idContains: ['--id-contains <text>', 'whose ID contains this text'],
} as const

/** Options that choose `what`, such as `only jobs`. */
export const filterOptions = (what: string, ...names: (keyof typeof filterTexts)[]): Option[] =>
  names.map((name) => new Option(filterTexts[name][0], `${what} ${filterTexts[name][1]}`))

/** Runs an action with the API that the flags name; the first signal aborts it. */
export async function withShell(
  { terminal, exit }: CommandFrame,
  flags: RemoteFlags,
  action: (shell: Shell) => unknown,
): Promise<void> {
  const address = addressOf(terminal.env, flags)
  const signals = watchSignals()
  try {
    const client = new ApiClient(address, signals.stop)
    const paint = painterOf(terminal.stdout, terminal.env)
    const shown = { json: flags.json ?? false, paint, time: timeTextOf(flags.utc ?? false) }
    await action({ terminal, api: client.calls, client, ...shown, exit })
    for (const [partition, behind] of client.stale)
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

/** Largest page of the API. */
export const pageMax = 1_000

/** Passes at most `limit` items of the pages to `take`; resolves with whether there are more. `goOn` is called after each page. */
export async function takeItems<Page extends { cursor: string | null }, Item>(
  read: (page: { limit: number; cursor: string | undefined }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  limit: number,
  take: (item: Item) => void,
  goOn: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  let left = limit
  for await (const page of pagesOf((cursor) => read({ limit: Math.min(left, pageMax), cursor }))) {
    const items = itemsOf(page)
    for (const item of items.slice(0, left)) take(item)
    if (items.length > left) return true
    left -= items.length
    if (!(await goOn())) return false
    if (left === 0) return page.cursor !== null
  }
  return false
}

/** How items are shown as a table. */
export interface List<Item> {
  columns: readonly (readonly [head: string, cell: (item: Item, shell: Shell) => Cell])[]
  /** Shown in place of an empty table. */
  none: string
}

/** Shows items as a table; with --json as lines. */
export function showItems<Item>(shell: Shell, items: readonly Item[], list: List<Item>): void {
  if (shell.json) for (const item of items) writeAsJson(shell.terminal.stdout, item)
  else
    showRows(
      shell,
      items.map((item) => rowOf(shell, item, list)),
      list,
    )
}

/** Shows at most `limit` items of the pages, and says whether there are more. Lines of JSON are written page by page, while somebody reads. */
export async function showPages<Page extends { cursor: string | null }, Item>(
  shell: Shell,
  limit: number,
  read: (page: { limit: number; cursor: string | undefined }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  list: List<Item> & { more?: string },
): Promise<void> {
  const { json, terminal } = shell
  const rows: Cell[][] = []
  const take = (item: Item): void => (json ? writeAsJson(terminal.stdout, item) : void rows.push(rowOf(shell, item, list)))
  const more = await takeItems(read, itemsOf, limit, take, () => hasReader(terminal.stdout))
  if (!json) showRows(shell, rows, list)
  if (more) terminal.stderr.write(`There ${list.more ?? 'are'} more than ${numberText(limit)}. Use --limit to see more.\n`)
}

const rowOf = <Item>(shell: Shell, item: Item, { columns }: List<Item>): Cell[] => columns.map(([, cell]) => cell(item, shell))

function showRows<Item>({ terminal, paint }: Shell, rows: readonly Cell[][], { columns, none }: List<Item>): void {
  const heads = columns.map(([head]) => head)
  terminal.stdout.write(rows.length === 0 ? `${none}\n` : tableText(heads, rows, paint))
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
