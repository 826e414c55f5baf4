/** What an operator asks of one job. */
import type { JobCommand } from '../../schemas/generated.ts'
import { patchState, pristineState } from '../draft.ts'
import type { Context, Decision } from '../job.ts'
import { executionOf } from '../runs/dispatch.ts'
import { startRun } from '../runs/fire.ts'

export function applyCommand(draft: Decision, command: JobCommand, context: Context): void {
  const state = draft.job.state ?? pristineState(draft.job)
  if (draft.job.definition?.spec === undefined) {
    draft.notes.push({ kind: 'stale', what: command.type })
    return
  }
  switch (command.type) {
    case 'TRIGGER':
      return trigger(draft, command, context)
    case 'PAUSE':
      if (state.status === 'ACTIVE') patchState(draft, { status: 'PAUSED', pausedByCommand: true })
      else if (state.status === 'PAUSED' && !state.pausedByCommand) patchState(draft, { pausedByCommand: true })
      return
    case 'RESUME':
      // The frozen time may have passed: its timer then pops at once and catch-up decides.
      if (state.status === 'PAUSED') patchState(draft, { status: 'ACTIVE', pausedByCommand: false })
  }
}

function trigger(draft: Decision, command: JobCommand, context: Context): void {
  const spec = draft.job.definition?.spec
  const state = draft.job.state ?? pristineState(draft.job)
  const repeated =
    state.lastRun?.commandId === command.commandId || state.active.some((run) => run.commandId === command.commandId)
  if (spec === undefined || repeated) return
  const { payload, commandId } = command
  const adjusted = payload === null ? spec : { ...spec, payload }
  const definition = draft.job.definition
  // The run is made from the adjusted definition, the job keeps its own.
  if (definition !== undefined) draft.job.definition = { ...definition, spec: adjusted }
  const run = startRun(draft, adjusted, 'MANUAL', context.now, context.now, context, { commandId, snapshot: payload !== null })
  if (payload !== null) draft.snapshotPuts.push(executionOf({ ...draft.job, snapshots: new Map() }, run, context.now))
  draft.job.definition = definition
}
