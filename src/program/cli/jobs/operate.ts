/** Changes of many jobs or dead runs: asks for an operation of the server, shows its progress, and cancels it at Ctrl-C. */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Option } from 'commander'
import { changeWords, nothingFound, stateWords } from '../../../../streams/text/index.ts'
import { ApiClient } from '../../../clients/remote/index.ts'
import type { Operation, OperationRequest } from '../../../ground/answers/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { filterOptions, type RemoteFlags, type Shell } from '../remote/index.ts'
import {
  choice,
  countText,
  exitCodes,
  jsonText,
  numberText,
  oneLine,
  type Progress,
  showProgress,
  type Terminal,
  writeAsJson,
} from '../terminal/index.ts'

const lookMs = 300
/** Time for the cancellation after Ctrl-C. */
const cancelMs = 5_000
/** IDs in the list of one operation. */
export const listedIdsMax = 10_000

export const jobStatuses = ['ACTIVE', 'PAUSED', 'COMPLETED', 'INVALID']

export interface FilterFlags extends RemoteFlags {
  all?: boolean
  tag?: string
  handler?: string
  status?: string
  idPrefix?: string
  idContains?: string
  errorType?: string
  from?: string
  to?: string
  dryRun?: boolean
  detach?: boolean
}

/** Options that choose many jobs, and what to do with the operation. */
export const manyOptions = (): Option[] => [
  ...filterOptions('all jobs', 'tag', 'handler'),
  choice('--status <status>', 'all jobs with this status', jobStatuses),
  ...filterOptions('all jobs', 'idPrefix', 'idContains'),
  new Option('--all', 'all jobs'),
  new Option('--dry-run', 'with a filter: only count the jobs'),
  new Option('--detach', 'with a filter, which makes one operation of the server: print its ID and do not wait for its end'),
]

const filterNames = ['tag', 'handler', 'status', 'idPrefix', 'idContains', 'errorType', 'from', 'to'] as const

export const filterOf = (flags: FilterFlags): Record<string, string> =>
  Object.fromEntries(filterNames.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])))

/** Whether the flags choose many jobs. Throws when they choose too much, or IDs as well. */
export function choosesMany(ids: readonly string[], flags: FilterFlags): boolean {
  const chosen = Object.keys(filterOf(flags)).length > 0
  if (flags.all === true && chosen) throw new DuelogError('bad-usage', 'Give either --all or filters.')
  const isMany = chosen || flags.all === true
  if (isMany === ids.length > 0) throw new DuelogError('bad-usage', 'Give either IDs, or filters such as --tag, or --all.')
  if (!isMany && (flags.dryRun || flags.detach)) {
    throw new DuelogError('bad-usage', '--dry-run and --detach need a filter such as --tag, or --all.')
  }
  return isMany
}

/** What an operation has done, as a phrase. */
export function operationText({ action, applied, refused, total }: Operation): string {
  const of = total === null || total === applied + refused ? '' : ` of ${numberText(total)}`
  const refusals = refused === 0 ? '' : `, ${countText(refused, 'refused')}`
  return `${numberText(applied)}${of} ${changeWords(action).done}${refusals}`
}

/** Begins an operation and waits for its end, unless the flags say otherwise. Ctrl-C cancels it. */
export async function operate(
  shell: Shell,
  wanted: OperationRequest,
  { dryRun, detach, idempotencyKey = randomUUID() }: FilterFlags & { idempotencyKey?: string } = {},
): Promise<void> {
  const { api, json, terminal } = shell
  if (dryRun) {
    const counted = await api.countOperation({ body: wanted })
    if (json) return writeAsJson(terminal.stdout, counted)
    const text = `${numberText(counted.count)} would be ${changeWords(wanted.action).done}.`
    terminal.stdout.write(`${counted.count === 0 ? nothingFound(wanted.action, wanted.filter) : text}\n`)
    return
  }
  const begun = await begin(shell, wanted, idempotencyKey)
  // The ID alone, so that a script can keep it.
  if (detach) return void terminal.stdout.write(json ? jsonText(begun, terminal.stdout) : `${oneLine(begun.id)}\n`)
  await follow(shell, begun, true)
}

async function begin({ api, client, terminal }: Shell, body: OperationRequest, idempotencyKey: string): Promise<Operation> {
  try {
    return await api.createOperation({ body, idempotencyKey })
  } catch (error) {
    if (client.signal.aborted)
      terminal.stderr.write('The operation may have begun; "duelog operations list --active" shows it.\n')
    throw error
  }
}

/** Shows the progress until the end. `cancels`: Ctrl-C cancels the operation, and not only this command. */
export async function follow(shell: Shell, begun: Operation, cancels: boolean): Promise<void> {
  const { api, client, json, terminal, exit } = shell
  const { signal } = client
  let last = begun
  let progress: Progress | undefined
  try {
    while (last.endedAt === null) {
      await wait(lookMs, undefined, { signal })
      last = await api.getOperation({ id: last.id })
      if (progress === undefined && last.total !== null) progress = showProgress(terminal, Math.max(1, last.total))
      progress?.update(last.applied + last.refused, progressText(last))
    }
  } catch (error) {
    progress?.stop()
    if (cancels && signal.aborted) await cancel(shell, last)
    else terminal.stderr.write(`Operation ${oneLine(last.id)} ${signal.aborted ? 'goes on' : 'may go on'}; ${laterText(last)}\n`)
    throw error
  }
  progress?.stop()
  if (last.status !== 'DONE' || last.refused > 0) exit(exitCodes.failed.code)
  if (json) return writeAsJson(terminal.stdout, last)
  const isEmpty = last.status === 'DONE' && last.total === 0
  terminal.stdout.write(isEmpty ? `${nothingFound(last.action, last.filter)}\n` : `${operationText(last)}.\n`)
  tellReasons(terminal, last)
}

export function tellReasons({ stderr }: Pick<Terminal, 'stderr'>, { status, reasons, problem, id }: Operation): void {
  for (const { count, reason, example } of reasons) {
    const first = example === '' ? '' : ` (first: ${example})`
    stderr.write(`${numberText(count)} refused: ${oneLine(`${reason}${first}`)}\n`)
  }
  if (status === 'FAILED' || status === 'CANCELLED')
    stderr.write(`${oneLine(`Operation ${id} ${stateWords(status)}. ${problem ?? ''}`)}\n`)
}

function progressText(operation: Operation): string {
  const { problem, effectiveAt } = operation
  if (problem !== null) return oneLine(problem)
  return `${operationText(operation)}${effectiveAt === null ? '' : ', in effect for all'}`
}

const laterText = ({ id }: Operation): string =>
  oneLine(`"duelog operations get ${id} --follow" follows it, "duelog operations cancel ${id}" cancels it.`)

/** After Ctrl-C requests need a signal of their own. */
async function cancel({ client, terminal }: Shell, { id }: Operation): Promise<void> {
  const last = new ApiClient(client.address, AbortSignal.timeout(cancelMs))
  try {
    const cancelled = await last.calls.cancelOperation({ id })
    terminal.stderr.write(
      `${oneLine(`Operation ${id} is cancelled; ${operationText(cancelled)} by now. "duelog operations get ${id}" shows the end.`)}\n`,
    )
  } catch {
    terminal.stderr.write(
      `${oneLine(`It is not known whether operation ${id} is cancelled; use "duelog operations cancel ${id}".`)}\n`,
    )
  }
}

/** An operation on all jobs that the flags choose. */
export const operateByFlags = (
  shell: Shell,
  action: OperationRequest['action'],
  flags: FilterFlags,
  body?: { payload: unknown },
): Promise<void> => operate(shell, { action, filter: filterOf(flags), ...body }, flags)
