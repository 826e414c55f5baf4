/** `duelog jobs plan`: what applying files would change. */
import type { Command } from 'commander'
import { DuelogError } from '../../errors.ts'
import { type CommandFrame, type RemoteFlags, remoteCommand, remotely } from '../remote/remote-command.ts'
import { inputOf } from '../terminal.ts'
import { formatOption } from './apply-command.ts'
import { type Format, openJobs } from './job-files.ts'

export function planCommand(frame: CommandFrame): Command {
  return remoteCommand('plan', 'Show what applying files would change: jobs, and the times that they fire.', [
    'jobs plan jobs.yaml',
  ])
    .argument('<files...>', 'as for apply')
    .addOption(formatOption())
    .action((files: string[], flags: RemoteFlags & { format?: Format }) =>
      remotely(frame, flags, async ({ api, terminal }) => {
        const definitions: unknown[] = []
        const { jobs } = await openJobs(files, flags.format, inputOf(frame.terminal))
        for await (const { file, line, json } of jobs) definitions.push(parse(file, line, json))
        terminal.stdout.write(`${JSON.stringify(await api.post('/v1/jobs/plan', { definitions }))}\n`)
      }),
    )
}

function parse(file: string, line: number, json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new DuelogError('bad-usage', `${file}:${line} is not JSON.`, { cause })
  }
}
